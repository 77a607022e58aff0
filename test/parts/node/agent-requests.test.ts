// Requests that no client of ours sends, to the agent of a node: each gets an answer that says what is wrong, nothing of the
// machine is in it, and the agent goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { testCredentials } from '../harness/memory-server.ts';
import { startNodeHarness } from '../harness/node-harness.ts';

const timeout = 120_000;

/** The answer to the bytes of one request, on a connection of its own. */
async function send(port: number, bytes: string, isKnown = true): Promise<string> {
  const { certificate: cert, privateKey: key } = testCredentials().administrator;
  const socket = connect({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false },
    ...(isKnown ? { cert, key } : {}),
  });
  await once(socket, 'secureConnect');
  // The rest of what is too large meets a closed connection.
  socket.on('error', () => undefined);
  socket.write(bytes);
  let text = '';
  const ended = once(socket, 'close');
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('end', () => socket.destroy());
  await ended;
  return text;
}

const plain = (target: string, method = 'GET', headers = ''): string =>
  `${method} ${target} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n${headers}\r\n`;
const webSocket =
  'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n';
const upgrade = (target: string, headers = webSocket): string =>
  `GET ${target} HTTP/1.1\r\nhost: node\r\nconnection: upgrade\r\n${headers}\r\n`;

const secret = '..%2f..%2f..%2f..%2f..%2fetc%2fpasswd';
const long = 'a'.repeat(9000);
const running = 'default/app/app';

/** What is sent, and the statuses that may answer it. */
const cases: Readonly<Record<string, readonly [string, ...number[]]>> = {
  'two slashes': [plain('//'), 404],
  'the address of another server': [plain('//192.0.2.1/pods'), 404],
  'a whole address': [plain('https://192.0.2.1/pods'), 400],
  'an address that is none': [plain('http://['), 400],
  'a star': [plain('*', 'OPTIONS'), 400],
  'what cannot be decoded': [plain('/%zz'), 400],
  'half of a character': [plain('/containerLogs/default/%e0%a4/app'), 400],
  'what cannot be decoded, upgraded': [upgrade('/exec/default/%zz/app?command=id&output=1'), 400],
  'a name of every object': [plain('/constructor'), 404],
  'the prototype': [plain('/__proto__'), 404],
  'logs: out of the directory': [plain(`/logs/pods/${secret}`), 404],
  'logs: dots': [plain('/logs/pods/../../../../etc/passwd'), 404],
  'logs: a zero byte': [plain('/logs/pods/%00'), 404],
  'logs: a long name': [plain(`/logs/pods/${long}`), 404],
  'containerLogs: of a path': [plain(`/containerLogs/default/app/${secret}`), 404],
  'containerLogs: of the prototype': [plain('/containerLogs/default/app/__proto__'), 404],
  'containerLogs: of a pod that is a path': [plain(`/containerLogs/${secret}/${secret}/app`), 404],
  'containerLogs: no number': [plain(`/containerLogs/${running}?tailLines=-1`), 400],
  'containerLogs: a number of 9000 digits': [
    plain(`/containerLogs/${running}?tailLines=${'9'.repeat(9000)}`),
    200,
    400,
  ],
  'containerLogs: the end of time': [
    plain(`/containerLogs/${running}?sinceSeconds=${'9'.repeat(300)}`),
    200,
    400,
  ],
  'run: what is not served': [plain(`/run/${running}?cmd=id`, 'POST'), 405, 404],
  'exec: without an upgrade': [plain(`/exec/${running}?command=id&output=1`, 'POST'), 400],
  'exec: of a path': [upgrade(`/exec/default/app/${secret}?command=id&output=1`), 500],
  'exec: of the prototype': [upgrade('/exec/default/app/__proto__?command=id&output=1'), 500],
  'exec: of no pod': [upgrade(`/exec/${secret}/constructor/app?command=id&output=1`), 404],
  'exec: no streams': [upgrade(`/exec/${running}?command=id`), 400],
  'exec: no command': [upgrade(`/exec/${running}?output=1`), 400],
  'exec: a protocol that is none': [
    upgrade(
      `/exec/${running}?command=id&output=1`,
      webSocket.replace('v5.channel.k8s.io', 'constructor'),
    ),
    ...[400, 403],
  ],
  'exec: no key': [
    upgrade(
      `/exec/${running}?command=id&output=1`,
      webSocket.replace(/sec-websocket-key.*\r\n/, ''),
    ),
    400,
  ],
  'exec: an unknown upgrade': [
    upgrade(`/exec/${running}?command=id&output=1`, 'upgrade: h2c\r\n'),
    ...[400, 403],
  ],
  'attach: of no container': [upgrade('/attach/default/app/other?output=1'), 500],
  'portForward: port 0': [upgrade('/portForward/default/app?port=0'), 400],
  'portForward: a port too many': [
    upgrade(`/portForward/default/app?${'port=1&'.repeat(101)}`),
    400,
  ],
  'portForward: no port': [upgrade('/portForward/default/app?port=1e3'), 400],
  'an upgrade of what takes none': [upgrade('/pods'), 400],
  'a head too large': [plain('/healthz', 'GET', `x: ${'a'.repeat(100_000)}\r\n`), 431],
  'two lengths': [plain('/healthz', 'POST', 'content-length: 1\r\ncontent-length: 2\r\n'), 400],
  'a length and chunks': [
    plain('/healthz', 'POST', 'content-length: 1\r\ntransfer-encoding: chunked\r\n'),
    400,
  ],
  'a method that is none': [plain('/healthz', 'DESTROY'), 400],
};

describe('requests to the agent of a node', { timeout }, () => {
  let port = 0;
  const afters: (() => unknown)[] = [];
  after(async () => {
    for (const act of afters.reverse()) await act();
  });
  before(async () => {
    // One agent for all of them: each must leave it as it was.
    const t = { after: (act: () => unknown) => afters.push(act) } as unknown as TestContext;
    const { node, run, until } = await startNodeHarness(t);
    port = node.server?.port ?? 0;
    await run('app', {
      containers: [{ name: 'app', image: 'process', command: ['sleep', '1000'] }],
    });
    await until('app', ({ status }) => status.phase === 'Running');
  });

  for (const [name, [bytes, ...statuses]] of Object.entries(cases)) {
    test(name, async () => {
      const answer = await send(port, bytes);
      const status = Number(answer.slice(9, 12));
      assert.ok(statuses.includes(status), `${status}: ${answer.slice(0, 500)}`);
      assert.doesNotMatch(answer, /root:|Invalid URL|URI malformed|at .*\.js/);
      const anonymous = await send(port, bytes, false);
      assert.match(anonymous, /^HTTP\/1.1 4\d\d /);
      assert.match(await send(port, plain('/healthz')), /^HTTP\/1.1 200 /);
    });
  }
});

// What a trace tries, and how it compares: against servers that lie, wait and break off, and by the programs that an image may have.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { loadAllModes } from '../../../src/proxy/modes/all.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../../src/snapshot/snapshot.ts';
import { compareLive, type Observed } from '../../../src/trace/live/compare-live.ts';
import type { LiveConnection } from '../../../src/trace/live/live.ts';
import { openConnections } from '../../../src/trace/live/open-connections.ts';
import {
  connectCommand,
  readResolved,
  readTried,
  resolveCommand,
} from '../../../src/trace/live/pod-script.ts';
import { sendQuery } from '../../../src/trace/live/send-query.ts';
import { parseSource, parseTarget } from '../../../src/trace/parse-target.ts';
import { renderTrace } from '../../../src/trace/render-trace.ts';
import type { Trace } from '../../../src/trace/trace.ts';
import { traceConnection } from '../../../src/trace/trace-connection.ts';
import { tracedWorld } from './traced-world.ts';

const limit = { timeout: 60_000 };
const [mode] = await loadAllModes();

function plan(text: string): Trace {
  const index = indexSnapshot(makeSnapshot({ objects: tracedWorld() }));
  const [target, from] = [parseTarget(text), parseSource('pod/client')];
  assert.ok('value' in target && 'value' in from && mode !== undefined);
  const traced = traceConnection(
    index,
    { text, target: target.value, from: from.value, namespace: 'default' },
    { settings: clusterSettings(index, { clusterDns: ['10.96.0.10'] }), mode },
  );
  assert.ok('value' in traced, JSON.stringify(traced));
  return traced.value;
}

const connection = (parts: Partial<LiveConnection> = {}): LiveConnection => ({
  ...{ address: '10.96.0.20', port: 80, protocol: 'TCP', attempts: 1, tookMs: 1, endpoints: [] },
  results: { answered: 1 },
  ...parts,
});

const asPlanned: Observed = {
  ...{ site: 'from somewhere', rules: [], notes: [] },
  resolver: {
    nameservers: ['10.96.0.10'],
    searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    ...{ options: ['ndots:5'], ndots: 5 },
  },
  queries: [
    {
      ...{ name: 'web.default.svc.cluster.local.', type: 'A', server: '10.96.0.10' },
      ...{ answer: 'records', records: [{ type: 'A', data: '10.96.0.20' }], tookMs: 1 },
    },
    {
      ...{ name: 'web.default.svc.cluster.local.', type: 'AAAA', server: '10.96.0.10' },
      ...{ answer: 'no-data', records: [], tookMs: 1 },
    },
  ],
  connections: [connection()],
};

const [a, aaaa] = asPlanned.queries;
assert.ok(a !== undefined && aaaa !== undefined && asPlanned.resolver !== undefined);
const cases: readonly {
  readonly title: string;
  readonly observed: Partial<Observed>;
  readonly hops: readonly string[];
  readonly sentence: RegExp;
}[] = [
  {
    title: 'finds nothing where all is as planned',
    ...{ observed: {}, hops: [], sentence: /^As planned: an answer$/ },
  },
  {
    title: 'sees another search list',
    observed: { resolver: { ...asPlanned.resolver, searches: ['example.com'] } },
    ...{ hops: ['resolver'], sentence: /first at the resolver: resolv\.conf has search example/ },
  },
  {
    title: 'sees a name that leads elsewhere',
    observed: {
      queries: [{ ...a, records: [{ type: 'A', data: '192.0.2.66' }] }, aaaa],
      connections: [connection({ address: '192.0.2.66' })],
    },
    hops: ['name'],
    sentence: /answered by 10\.96\.0\.10 with 192\.0\.2\.66, where 10\.96\.0\.20 was expected/,
  },
  {
    title: 'sees a name that is not answered',
    observed: {
      queries: [{ ...a, answer: 'not-answered', records: [], why: 'no response in time' }, aaaa],
      connections: [],
    },
    hops: ['name'],
    sentence: /no answer by 10\.96\.0\.10 \(no response in time\), where 10\.96\.0\.20 was/,
  },
  {
    title: 'sees a name that is answered late',
    observed: { queries: [{ ...a, tookMs: 2300 }, aaaa] },
    ...{ hops: ['name'], sentence: /answered only after 2300 ms/ },
  },
  {
    title: 'sees that the endpoint refuses',
    observed: {
      connections: [
        connection({
          results: { refused: 1 },
          endpoints: [
            {
              node: 'n1',
              address: '10.244.1.5',
              port: 8080,
              pod: 'default/web-1',
              attempts: 1,
              chance: 0.5,
            },
          ],
        }),
      ],
    },
    hops: ['connection'],
    sentence:
      /a refusal, where an answer was expected: it reached pod default\/web-1 at .* nothing/,
  },
  {
    title: 'sees an endpoint that is none',
    observed: {
      connections: [
        connection({
          endpoints: [{ node: 'n1', address: '10.244.9.9', port: 8080, attempts: 1, chance: 0 }],
        }),
      ],
    },
    ...{ hops: ['endpoints'], sentence: /10\.244\.9\.9:8080, which is no endpoint of the Service/ },
  },
  {
    title: 'sees a distribution that is no chance',
    observed: {
      connections: [
        connection({
          ...{ attempts: 100, results: { answered: 100 } },
          endpoints: [
            { node: 'n1', address: '10.244.1.5', port: 8080, attempts: 100, chance: 0.5 },
          ],
        }),
      ],
    },
    hops: ['endpoints', 'endpoints'],
    sentence: /got 100 of 100 connections, where 50 % were expected/,
  },
  {
    title: 'takes a small difference for chance',
    observed: {
      connections: [
        connection({
          ...{ attempts: 20, results: { answered: 20 } },
          endpoints: [
            { node: 'n1', address: '10.244.1.5', port: 8080, attempts: 14, chance: 0.5 },
            { node: 'n1', address: '10.244.2.6', port: 8080, attempts: 6, chance: 0.5 },
          ],
        }),
      ],
    },
    ...{ hops: [], sentence: /^As planned: 20 of 20 times an answer$/ },
  },
  {
    title: 'names the rules before what follows from them',
    observed: {
      rules: [
        {
          ...{ node: 'n1', mode: 'nftables', state: 'differ' },
          ...{ missing: ['element of endpoints: x'], stale: [] },
        },
      ],
      connections: [connection({ results: { timeout: 1 } })],
    },
    ...{ hops: ['rules', 'connection'], sentence: /first at the rules: the kernel of node n1/ },
  },
];

for (const { title, observed, hops, sentence } of cases) {
  test(`compareLive() ${title}`, () => {
    const live = compareLive(plan('http://web/'), { ...asPlanned, ...observed });
    assert.deepEqual(
      live.differences.map(({ hop }) => hop),
      hops,
      JSON.stringify(live.differences),
    );
    assert.match(live.sentence, sentence);
  });
}

test('compareLive() takes the refusal that was predicted for what was planned', () => {
  const refused = connection({ address: '10.96.0.22', results: { refused: 1 } });
  const live = compareLive(plan('10.96.0.22:80'), {
    ...{ site: '', queries: [], rules: [], notes: [], connections: [refused] },
  });
  assert.deepEqual([live.differences, live.isAnswered], [[], false]);
});

test('renderTrace() writes out what a terminal would obey', () => {
  const trace = plan('http://web/');
  const title = '\u001b]0;owned\u0007';
  const live = compareLive(trace, {
    ...asPlanned,
    queries: [{ ...a, records: [{ type: 'A', data: title }] }, aaaa],
    connections: [connection({ banner: `SSH${title}`, why: title })],
    notes: [title],
  });
  const plain = (text: string): string => text;
  const style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
  const text = renderTrace({ ...trace, live }, { style, isVerbose: true });
  assert.ok(!text.includes('\u001b') && !text.includes('\u0007'));
  assert.match(text, /it says: SSH\\+x1b\]0;owned/);
});

/** A server on loopback, which does this with each connection. */
async function serve(t: TestContext, act: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    act(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const connectTo = (port: number, count = 1) =>
  openConnections({
    ...{ kind: 'connect', protocol: 'TCP', address: '127.0.0.1', timeoutMs: 5000, port, count },
  });

test('openConnections() takes a server that never speaks for an answer', limit, async (t) => {
  const [attempt] = await connectTo(await serve(t, () => {}));
  assert.equal(attempt?.result, 'answered');
});

test('openConnections() reads what the server says first', limit, async (t) => {
  const [attempt] = await connectTo(
    await serve(t, (socket) => void socket.write('SSH-2.0-test\r\n')),
  );
  assert.deepEqual([attempt?.result, attempt?.banner], ['answered', 'SSH-2.0-test\r\n']);
});

test('openConnections() tells of relays that accept what they cannot forward', limit, async (t) => {
  const [closed] = await connectTo(await serve(t, (socket) => void socket.end()));
  const [reset] = await connectTo(await serve(t, (socket) => void socket.resetAndDestroy()));
  assert.deepEqual([closed?.result, reset?.result], ['closed', 'reset']);
});

test('openConnections() counts every attempt, and knows its port', limit, async (t) => {
  const attempts = await connectTo(await serve(t, () => {}), 25);
  assert.equal(attempts.length, 25);
  assert.equal(new Set(attempts.map(({ sourcePort }) => sourcePort)).size, 25);
});

test('openConnections() knows a refusal, and silence', limit, async (t) => {
  const [refused] = await connectTo(await refusingPort());
  assert.equal(refused?.result, 'refused');
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const udp = { kind: 'connect', protocol: 'UDP', address: '127.0.0.1', count: 1 } as const;
  const { port } = socket.address();
  const [silent] = await openConnections({ ...udp, port, timeoutMs: 50 });
  assert.equal(silent?.result, 'silent');
  const [gone] = await openConnections({ ...udp, port: await refusingPort(), timeoutMs: 5000 });
  assert.equal(gone?.result, 'refused');
});

async function refusingPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A DNS server on loopback that does this with each query. */
async function serveDns(
  t: TestContext,
  answer: (query: Buffer) => readonly Buffer[],
): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    for (const one of answer(query)) socket.send(one, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return socket.address().port;
}

const queryAt = (port: number, timeoutMs: number) =>
  sendQuery({
    ...{ kind: 'query', name: 'web.default.svc.cluster.local.', type: 'A', port, timeoutMs },
    servers: ['127.0.0.1'],
  });

test('sendQuery() ends when a server never answers, or answers with noise', limit, async (t) => {
  const silent = await queryAt(await serveDns(t, () => []), 50);
  assert.deepEqual([silent.rcode, silent.records], [undefined, []]);
  const noise = (query: Buffer): readonly Buffer[] => {
    const forged = Buffer.from(query);
    forged.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 0);
    forged.writeUInt16BE(0x8180, 2);
    return [Buffer.alloc(0), Buffer.alloc(3), query, forged, Buffer.alloc(600, 0xc0)];
  };
  assert.equal((await queryAt(await serveDns(t, noise), 50)).rcode, undefined);
});

test('sendQuery() says what a server refuses', limit, async (t) => {
  const refusal = (query: Buffer): readonly Buffer[] => {
    const answer = Buffer.from(query.subarray(0, query.length - 11));
    answer.writeUInt16BE(0x8185, 2);
    answer.writeUInt16BE(0, 10);
    return [answer];
  };
  assert.equal((await queryAt(await serveDns(t, refusal), 5000)).rcode, 'REFUSED');
});

const runFile = promisify(execFile);
const always = ['sh', 'head', 'tr', 'cat'];

/** A PATH with these programs of this machine alone; undefined: it lacks one of them. */
async function pathWith(t: TestContext, programs: readonly string[]): Promise<string | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-path-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const name of [...always, ...programs]) {
    // Not what a version manager puts before it, which needs more programs.
    const search = `[ -x /usr/bin/${name} ] && echo /usr/bin/${name} || command -v ${name}`;
    const found = await runFile('sh', ['-c', search]).catch(() => undefined);
    if (found === undefined && programs.includes(name)) return undefined;
    if (found === undefined) continue;
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\nexec ${found.stdout.trim()} "$@"\n`, { mode: 0o755 });
  }
  return directory;
}

for (const programs of [['bash', 'timeout'], ['nc'], ['python3'], ['node'], ['wget'], ['curl']]) {
  const [tool = ''] = programs;
  test(`connectCommand() tries it with ${tool}`, limit, async (t) => {
    const path = await pathWith(t, programs);
    if (path === undefined) return t.skip(`there is no ${tool}`);
    const open = await serve(t, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n')),
    );
    const closed = await refusingPort();
    const targets = [open, closed].map((port) => ({ address: '127.0.0.1', port }));
    const [program = '', ...args] = connectCommand({ timeoutMs: 1000, count: 2, targets });
    const { stdout } = await runFile(program, args, { env: { PATH: path } });
    const { tool: used, attempts } = readTried(stdout);
    assert.equal(used, tool);
    const results = (port: number) =>
      attempts.get(`127.0.0.1 ${port}`)?.map(({ result }) => result);
    assert.deepEqual(
      [results(open), results(closed)],
      [
        ['answered', 'answered'],
        ['refused', 'refused'],
      ],
      stdout,
    );
  });
}

test('connectCommand() says when nothing in the image can do it', limit, async (t) => {
  const path = await pathWith(t, []);
  const [program = '', ...args] = connectCommand({ timeoutMs: 1000, count: 1, targets: [] });
  const { stdout } = await runFile(program, args, { env: { PATH: path } });
  assert.equal(readTried(stdout).tool, undefined);
});

for (const tool of ['getent', 'python3', 'node']) {
  test(`resolveCommand() resolves with ${tool}, and reads resolv.conf`, limit, async (t) => {
    const path = await pathWith(t, [tool]);
    if (path === undefined) return t.skip(`there is no ${tool}`);
    // No shell reads the name.
    const odd = 'localhost$(touch /tmp/never)';
    for (const [name, wanted] of [
      ['localhost', 'records'],
      [odd, 'no-such-name'],
    ] as const) {
      const [program = '', ...args] = resolveCommand(name);
      const { stdout }: { stdout: string } = await runFile(program, args, { env: { PATH: path } });
      const resolved = readResolved(stdout);
      assert.deepEqual([resolved.tool, resolved.query.answer], [tool, wanted], stdout);
    }
  });
}

test('readResolved() takes addresses only, whatever else is printed', () => {
  const { query } = readResolved(
    'by nslookup\nnslookup Server: 10.96.0.10\nnslookup Address: 10.96.0.10:53\nnslookup \n' +
      'nslookup Name: web.default.svc.cluster.local\nnslookup Address: 10.96.0.20\n' +
      'nslookup Address 2: fd00::20 web\nip \u001b[31m\n',
  );
  assert.deepEqual(
    query.records.map(({ data }) => data),
    ['10.96.0.20', 'fd00::20'],
  );
  assert.ok(!tmpdir().includes(delimiter));
});

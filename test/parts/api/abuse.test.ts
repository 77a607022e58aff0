// Bad company: readers that do not read and senders of garbage, all at once. Every good request is answered right, the
// bad ones are cut off or refused, and what is held for them stays within its limits. How long it takes is measured
// by the bench's row `abuse`, not here.
import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { after, before, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { defaultLimits } from '../../../src/apiserver/limits/limits.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type ApiClient, openApiClient } from '../harness/api-client.ts';
import { closed } from '../harness/closed.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';
import { createRandom } from '../harness/random.ts';

const timeout = 120_000;
const mebibyte = 1024 * 1024;
const configMaps = '/api/v1/namespaces/default/configmaps';
const goodClients = 40;
const requestsEach = 25;
const slowReaders = 5;
const slowWatchers = 5;
const garbageSenders = 10;
const limits = {
  ...defaultLimits,
  maxUnreadBytesPerConnection: 8 * mebibyte,
  maxUnreadBytes: 24 * mebibyte,
  slowReaderTimeoutMs: 5000,
};

let running: MemoryServer;
let good: Identity;
let slow: Identity;

type Identity = { readonly cert: string; readonly key: string };

before(async () => {
  running = await startMemoryServer({ access: { limits } });
  good = identity('good');
  slow = identity('slow');
  const group = 'rbac.authorization.k8s.io';
  await running.api.post(`/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: 'clients' },
    subjects: [{ kind: 'Group', apiGroup: group, name: 'clients' }],
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' },
  });
  // More than the kernel takes off the server's hands for a connection.
  for (let at = 0; at < 24; at += 1) {
    const data = { filler: 'x'.repeat(900_000) };
    await running.api.post(configMaps, { metadata: { name: `large-${at}` }, data });
  }
});
after(() => running.stop());

function identity(commonName: string): Identity {
  const request = { commonName, organizations: ['clients'], days: 1, now: Date.now() };
  const made = issueClientCertificate(testCredentials().authority, request);
  return { cert: made.certificate, key: made.privateKey };
}

function openSocket(own: Partial<Identity> = {}): Promise<TLSSocket> {
  const { port } = running.server.address;
  const ca = testCredentials().authority.certificate;
  const socket = connect({ host: 'localhost', port, ca, ALPNProtocols: ['http/1.1'], ...own });
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('secureConnect', () => resolve(socket)));
}

async function metric(name: string): Promise<number> {
  const { body } = await running.api.send<string>({ method: 'GET', path: '/metrics' });
  const lines = body.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Asks without reading the answers, and is cut off. */
async function askAndNotRead(path: string, times: number): Promise<void> {
  const socket = await openSocket(slow);
  socket.pause();
  const head = `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n\r\n`;
  socket.write(head.repeat(times));
  // A socket that is not read gets no 'end' event; one that writes gets an error.
  const timer = setInterval(() => socket.write('\r\n'), 50);
  await closed(socket);
  clearInterval(timer);
}

/** Its own object, written and read back: no other client's answer, and nothing lost. */
async function beGood(api: ApiClient, number: number): Promise<void> {
  const name = `good-${number}`;
  await api.post(configMaps, { metadata: { name }, data: { round: '0' } });
  for (let round = 1; round <= requestsEach; round += 1) {
    await api.patch(`${configMaps}/${name}`, { data: { round: String(round) } });
    const { data } = await api.get<KubeObject & { readonly data: { readonly round: string } }>(
      `${configMaps}/${name}`,
    );
    assert.equal(data.round, String(round));
  }
  await api.delete(`${configMaps}/${name}`);
}

const pieces: readonly ((random: (below: number) => number) => Buffer)[] = [
  (random) => Buffer.from(Array.from({ length: 200 }, () => random(256))),
  () => Buffer.from('GET / HTTP/9.9\r\n\r\n'),
  () => Buffer.from(`GET ${configMaps} HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
  () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense'),
  () => Buffer.from('GET /%zz%00 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
  () => {
    const head = `POST ${configMaps} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n`;
    return Buffer.from(`${head}content-length: 12\r\n\r\n{"metadata":`);
  },
];

/** What came back to a piece of garbage: a status, or nothing but the end. */
async function sendGarbage(seed: number): Promise<void> {
  const random = createRandom(seed).below;
  for (const piece of pieces) {
    const socket = await openSocket();
    let seen = '';
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1');
    });
    socket.end(piece(random));
    await closed(socket);
    const [, status = '400'] = /^HTTP\/1\.1 (\d{3})/.exec(seen) ?? [];
    assert.match(status, /^4\d\d$/, `${seen.slice(0, 200)} to ${piece(random)}`);
  }
  // And one that is not even encrypted.
  const plain = connectPlain({ host: '127.0.0.1', port: running.server.address.port });
  plain.end('GET / HTTP/1.1\r\n\r\n');
  plain.resume();
  await closed(plain);
}

test('good clients are served right beside slow readers and senders of garbage', {
  timeout,
}, async () => {
  const { port } = running.server.address;
  const ca = testCredentials().authority.certificate;
  const clients = await Promise.all(
    Array.from({ length: goodClients }, () => openApiClient({ port, ca, ...good })),
  );
  let isOver = false;
  let maxHeld = 0;
  const watchHeld = async (): Promise<void> => {
    while (!isOver) {
      maxHeld = Math.max(maxHeld, await metric('fairlead_apiserver_unread_bytes'));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const held = watchHeld();
  const cutOff = [
    ...Array.from({ length: slowReaders }, () => askAndNotRead(configMaps, 10)),
    ...Array.from({ length: slowWatchers }, () => askAndNotRead(`${configMaps}?watch=1`, 1)),
  ];
  await Promise.all([
    ...clients.map((api, at) => beGood(api, at)),
    ...Array.from({ length: garbageSenders }, (_, at) => sendGarbage(at)),
  ]);
  await Promise.all(cutOff);
  isOver = true;
  await held;
  for (const api of clients) api.close();
  assert.ok(maxHeld <= limits.maxUnreadBytes, `${maxHeld} bytes were held`);
  assert.ok((await metric('fairlead_apiserver_slow_readers_cut_total')) >= slowReaders);
  assert.equal(await metric('fairlead_apiserver_unread_bytes'), 0);
  assert.equal(await metric('fairlead_apiserver_request_body_bytes'), 0);
  assert.equal(await metric('apiserver_longrunning_requests'), 0);
  assert.equal(await metric('apiserver_flowcontrol_current_inqueue_requests'), 0);
});

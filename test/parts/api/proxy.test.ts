// The proxy subresources of services and pods, with real web servers where the pods would be.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { closed } from '../harness/closed.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 60_000;
const namespace = '/api/v1/namespaces/default';
const web = `${namespace}/services/web:http/proxy`;
const podAddress = '10.1.0.5';

let backend: Server;
let secure: Server;
let running: MemoryServer;
const dialled: string[] = [];

before(async () => {
  backend = createServer((request, response) => {
    const said = raw.get(request.url ?? '');
    if (said !== undefined) {
      request.socket.write(said);
      return;
    }
    if (request.url === '/endless') {
      writeEndlessly(response);
      return;
    }
    void answer(request).then(({ status = 200, headers = {}, body }) => {
      response.writeHead(status, headers).end(body);
    });
  });
  backend.on('upgrade', (request: IncomingMessage, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${request.headers.upgrade}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  const { server } = testCredentials();
  secure = createTlsServer({ key: server.privateKey, cert: server.certificate }, (_, response) =>
    response.end('over tls'),
  );
  for (const one of [backend, secure]) await once(one.listen(0, '127.0.0.1'), 'listening');
  running = await startMemoryServer({
    access: {
      dial(host, port) {
        dialled.push(`${host}:${port}`);
        const target = port === 8443 ? secure : backend;
        return connect({ host: '127.0.0.1', port: (target.address() as AddressInfo).port });
      },
    },
  });
  await makeObjects();
});
after(async () => {
  await running.stop();
  backend.closeAllConnections();
  backend.close();
  secure.close();
});

/** By path: the bytes of an answer that no HTTP server would send. */
const raw = new Map<string, string>();
const endless = { written: 0, isClosed: false };

function writeEndlessly(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024);
  const write = (): void => {
    do endless.written += chunk.length;
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write).on('close', () => {
    endless.isClosed = true;
  });
  write();
}

type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

const page = '<html><a href="/next">next</a></html>';

async function answer(request: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method, url = '', headers } = request;
  if (url === '/page') return { headers: { 'content-type': 'text/html' }, body: page };
  if (url === '/zipped') {
    const zipped = { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' };
    return { headers: zipped, body: gzipSync(page) };
  }
  if (url === '/moved') return { status: 302, headers: { location: '/elsewhere' }, body: '' };
  if (url === '/large') return { body: Buffer.alloc(largeBytes, 'x') };
  const seen = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
  return {
    status: method === 'POST' ? 201 : 200,
    headers: { 'content-type': 'application/json', 'access-control-allow-origin': '*' },
    body: JSON.stringify(seen),
  };
}

const largeBytes = 20 * 1024 * 1024;

async function makeObjects(): Promise<void> {
  const { api } = running;
  const named = [
    { name: 'http', containerPort: 8080 },
    { name: 'https', containerPort: 8443 },
  ];
  const containers = [{ name: 'c', image: 'i', ports: named }];
  await api.post(`${namespace}/pods`, { metadata: { name: 'a' }, spec: { containers } });
  await api.patch(`${namespace}/pods/a/status`, {
    status: { podIP: podAddress, podIPs: [{ ip: podAddress }] },
  });
  const ports = [
    { name: 'http', port: 80, targetPort: 8080 },
    { name: 'https', port: 443, targetPort: 8443 },
  ];
  for (const name of ['web', 'foreign']) {
    await api.post(`${namespace}/services`, { metadata: { name }, spec: { ports } });
  }
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'a' };
  const subset = (address: object) => ({
    addresses: [address],
    ports: [
      { name: 'http', port: 8080 },
      { name: 'https', port: 8443 },
    ],
  });
  await api.post(`${namespace}/endpoints`, {
    metadata: { name: 'web' },
    subsets: [subset({ ip: podAddress, targetRef })],
  });
  await api.post(`${namespace}/endpoints`, {
    metadata: { name: 'foreign' },
    subsets: [subset({ ip: '10.9.9.9', targetRef }), subset({ ip: '10.9.9.8' })],
  });
}

type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

test('a request arrives at the pod as it was sent, a query parameter path included (PXY-07, PXY-08)', {
  timeout,
}, async () => {
  const { status, body, headers } = await running.api.send<Seen>({
    method: 'POST',
    path: `${web}/a%2Fb/../c//d?x=%20&path=y`,
    body: 'text',
    headers: { 'content-type': 'text/plain', authorization: 'Bearer secret', 'x-own': 'kept' },
  });
  assert.equal(status, 201);
  assert.equal(headers['access-control-allow-origin'], undefined);
  assert.deepEqual(
    [body.method, body.url, body.body],
    ['POST', '/a%2Fb/../c//d?x=%20&path=y', 'text'],
  );
  assert.equal(body.headers['x-own'], 'kept');
  assert.equal(body.headers.authorization, undefined);
  assert.equal(body.headers['x-forwarded-uri'], `${web}/a%2Fb/../c//d`);
  assert.equal(body.headers['x-forwarded-proto'], 'https');
  assert.match(body.headers['x-forwarded-for'] ?? '', /127\.0\.0\.1$/);
  assert.ok(dialled.every((address) => address.startsWith(`${podAddress}:`)));
});

test('every method passes (PXY-02, CNF-07)', { timeout }, async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { body } = await running.api.send<Seen>({ method, path: `${web}/x` });
    assert.equal(body.method, method);
  }
  const head = await running.api.send({ method: 'HEAD', path: `${web}/x` });
  assert.equal(head.status, 200);
});

test('ports by number, https and pods (PXY-01, PXY-03)', { timeout }, async () => {
  const { api } = running;
  const byNumber = await api.get<Seen>(`${namespace}/services/web:80/proxy/n`);
  assert.equal(byNumber.url, '/n');
  assert.equal(await api.get<string>(`${namespace}/services/https:web:https/proxy/`), 'over tls');
  assert.equal((await api.get<Seen>(`${namespace}/pods/a/proxy/p`)).url, '/p');
  assert.equal(await api.get<string>(`${namespace}/pods/https:a:8443/proxy/`), 'over tls');
});

/** What upstream's conformance test tries: services and pods, by name, number and scheme. */
const forms: Readonly<Record<string, string>> = {
  'services/web:http': '10.1.0.5:8080',
  'services/web:80': '10.1.0.5:8080',
  'services/http:web:http': '10.1.0.5:8080',
  'services/http:web:80': '10.1.0.5:8080',
  'services/https:web:https': '10.1.0.5:8443',
  'services/https:web:443': '10.1.0.5:8443',
  'services/:web:http': '10.1.0.5:8080',
  'pods/a': '10.1.0.5:8080',
  'pods/a:8080': '10.1.0.5:8080',
  'pods/a:http': '10.1.0.5:8080',
  'pods/http:a:8080': '10.1.0.5:8080',
  'pods/http:a:http': '10.1.0.5:8080',
  'pods/https:a:8443': '10.1.0.5:8443',
  'pods/https:a:https': '10.1.0.5:8443',
};

test('every form of a proxied name leads to the same pod, each time (PXY-01, CNF-07)', {
  timeout,
}, async () => {
  for (const [form, wanted] of Object.entries(forms)) {
    for (let round = 0; round < 20; round += 1) {
      const { status } = await running.api.send({
        method: 'GET',
        path: `${namespace}/${form}/proxy/`,
      });
      assert.deepEqual([form, status, dialled.at(-1)], [form, 200, wanted]);
    }
  }
});

test('links of pages and redirects stay behind the proxy (PXY-07)', { timeout }, async () => {
  const { api } = running;
  const rewritten = `<html><a href="${web}/next">next</a></html>`;
  assert.equal(await api.get<string>(`${web}/page`), rewritten);
  assert.equal(await api.get<string>(`${web}/zipped`), rewritten);
  const moved = await api.send({ method: 'GET', path: `${web}/moved` });
  assert.deepEqual([moved.status, moved.headers.location], [302, `${web}/elsewhere`]);
  const root = await api.send({ method: 'GET', path: `${web}?a=b` });
  assert.deepEqual([root.status, root.headers.location], [301, `${web}/?a=b`]);
});

test('a large body arrives complete', { timeout }, async () => {
  assert.equal((await running.api.get<string>(`${web}/large`)).length, largeBytes);
});

test('what is no pod of the service is refused, before any redirect (PXY-03, PXY-05, PXY-06)', {
  timeout,
}, async () => {
  const before = dialled.length;
  const cases: Readonly<Record<string, string>> = {
    'services/foreign:http/proxy/': '503 no endpoints available for service "foreign:http"',
    'services/foreign:http/proxy': '503 no endpoints available for service "foreign:http"',
    'services/foreign:99999/proxy/': '503 no service port 99999 found for service "foreign"',
    'services/nope/proxy': '404 endpoints "nope" not found',
    'services/nope:80/proxy': '404 services "nope" not found',
    'services/web:81/proxy/': '503 no service port 81 found for service "web"',
    'services/a:b:c:d/proxy/': '400 invalid service request "a:b:c:d"',
    'services/nope/proxy/': '404 endpoints "nope" not found',
    'pods/nope/proxy/': '404 pods "nope" not found',
  };
  for (const [path, expected] of Object.entries(cases)) {
    const { status, body } = await running.api.send({
      method: 'GET',
      path: `${namespace}/${path}`,
    });
    assert.equal(`${status} ${body.message}`, expected);
  }
  const hidden = await running.api.send({
    method: 'GET',
    path: `${namespace}%2Fservices/web:http/proxy/x`,
  });
  assert.equal(hidden.status, 400);
  assert.equal(dialled.length, before);
});

test('a connection is handed over when both want to, whatever the path (PXY-02)', {
  timeout,
}, async () => {
  const { authority, administrator } = testCredentials();
  const socket = connectTls({
    host: '127.0.0.1',
    port: running.server.address.port,
    ca: authority.certificate,
    cert: administrator.certificate,
    key: administrator.privateKey,
    servername: 'localhost',
  });
  const read = reader(socket);
  const upgrade = 'host: localhost\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n';
  // Without a path, other requests are redirected.
  socket.write(`GET ${web} HTTP/1.1\r\n${upgrade}`);
  assert.match(await read.until('\r\n\r\n'), /^HTTP\/1\.1 101 .*upgrade: echo/s);
  socket.write('ping');
  assert.match(await read.until('ping'), /ping$/);
  socket.destroy();
});

/** What a backend sends in place of an answer. */
const oddAnswers: Readonly<Record<string, string>> = {
  '/switched': 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n',
  '/status-0': 'HTTP/1.1 000 Zero\r\ncontent-length: 2\r\n\r\nhi',
  '/status-99': 'HTTP/1.1 099 Less\r\ncontent-length: 2\r\n\r\nhi',
  '/status-999': 'HTTP/1.1 999 More\r\ncontent-length: 2\r\n\r\nhi',
};

for (const [path, said] of Object.entries(oddAnswers)) {
  test(`a backend that answers "${said.slice(0, 16)}" to a plain request is unavailable`, {
    timeout,
  }, async () => {
    raw.set(path, said);
    const { authority, administrator } = testCredentials();
    const { port } = running.server.address;
    const credentials = { cert: administrator.certificate, key: administrator.privateKey };
    const options = { ...credentials, host: 'localhost', port, ca: authority.certificate };
    const socket = connectTls(options);
    const read = reader(socket);
    socket.write(`GET ${web}${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    assert.match(await read.until('"code":'), /^HTTP\/1\.1 503 .*error trying to reach service/s);
    socket.destroy();
    // Over HTTP/2.
    const { status } = await running.api.send({ method: 'GET', path: `${web}${path}` });
    assert.equal(status, 503);
  });
}

test('an answer without content has no length', { timeout }, async () => {
  raw.set('/none', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello');
  const { status, headers } = await running.api.send({ method: 'GET', path: `${web}/none` });
  assert.equal(status, 204);
  assert.equal(headers['content-length'], undefined);
});

test('an upgrade that was not requested is a plain response', { timeout }, async () => {
  const { authority } = testCredentials();
  const { port } = running.server.address;
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    ca: authority.certificate,
    servername: 'localhost',
  });
  const read = reader(socket);
  const upgrade = 'host: localhost\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n';
  socket.write(`GET /healthz HTTP/1.1\r\n${upgrade}`);
  const isOver = closed(socket);
  assert.match(await read.until('ok'), /^HTTP\/1\.1 200 /);
  await isOver;
});

test('a client that reads slowly makes the pod wait, and the server holds little', {
  timeout,
}, async () => {
  const { port } = running.server.address;
  const { authority, administrator } = testCredentials();
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    ca: authority.certificate,
    cert: administrator.certificate,
    key: administrator.privateKey,
    servername: 'localhost',
  });
  await once(socket, 'secureConnect');
  socket.pause();
  socket.write(`GET ${web}/endless HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await until(() => endless.written > 0);
  // The pod writes until the client's buffers are full; then it has to wait, which ends this loop.
  let before = 0;
  while (endless.written > before) {
    before = endless.written;
    for (let round = 0; round < 20; round += 1) {
      const { body } = await running.api.send<string>({ method: 'GET', path: '/metrics' });
      const held = Number(/^fairlead_apiserver_unread_bytes (\d+)$/m.exec(body)?.[1]);
      assert.ok(held < 4 * 1024 * 1024, `${held} bytes are held`);
    }
  }
  socket.resume();
  await until(() => endless.written > before + largeBytes);
  socket.destroy();
  // The client is gone: the connection to the pod is closed.
  await until(() => endless.isClosed);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('schemas say that the subresources lead on', { timeout }, async () => {
  type Document = {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>
    >;
  };
  for (const document of ['/openapi/v2', '/openapi/v3/api/v1']) {
    const { paths } = await running.api.get<Document>(document);
    for (const [plural, kind] of [
      ['pods', 'Pod'],
      ['services', 'Service'],
    ] as const) {
      const path = `/api/v1/namespaces/{namespace}/${plural}/{name}/proxy`;
      const methods = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head', 'parameters'];
      assert.deepEqual(Object.keys(paths[path] ?? {}).sort(), methods.sort());
      const { get } = paths[path] ?? {};
      assert.equal(get?.operationId, `connectCoreV1GetNamespaced${kind}Proxy`);
      assert.equal(get?.['x-kubernetes-action'], 'connect');
      assert.deepEqual(get?.['x-kubernetes-group-version-kind'], {
        group: '',
        version: 'v1',
        kind: `${kind}ProxyOptions`,
      });
      const behind = paths[`${path}/{path}`]?.post?.operationId;
      assert.equal(behind, `connectCoreV1PostNamespaced${kind}ProxyWithPath`);
    }
  }
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const { status } = await running.api.send({
    method: 'GET',
    path: '/openapi/v2',
    headers: { accept },
  });
  assert.equal(status, 200);
});

function reader(socket: NodeJS.ReadableStream) {
  let text = '';
  let check = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    check();
  });
  const until = (end: string): Promise<string> =>
    new Promise((resolve) => {
      check = () => {
        if (text.includes(end)) resolve(text);
      };
      check();
    });
  return { until };
}

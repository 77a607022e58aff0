// The server over TLS on loopback, with both versions of HTTP: requests and responses.
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { isApiError } from '../../meta/api-error.ts';
import { type Log, silentLog } from '../../observe/log.ts';
import { type Attributes, certificateWithSubject } from '../certificates/example.ts';
import type { ApiRequest } from '../message.ts';
import {
  authority,
  bothVersions,
  foreignClient,
  type Http,
  type Identity,
  jane,
  readBody,
  start,
  type TestResponse,
  text,
  tls,
} from './example.ts';
import { startServer } from './server.ts';

const timeout = 30_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

function testRequests({ version, connectTo }: Http): void {
  test(`${version}: handles a request with its body, and sends the response`, {
    timeout,
  }, async () => {
    let seen: ApiRequest | undefined;
    const server = await start(async (request) => {
      seen = request;
      const body = Buffer.from(await request.body());
      return { status: 201, headers: { 'x-a': 'b' }, body: Buffer.concat([body, body]) };
    });
    const got = await connectTo(server).send({
      method: 'POST',
      path: '/a%2Fb?x=1&x=2&y=%20',
      headers: { 'content-type': 'c' },
      body: Buffer.from('twice'),
    });
    assert.equal(got.status, 201);
    assert.equal(got.text, 'twicetwice');
    assert.equal(got.headers['x-a'], 'b');
    assert.equal(got.headers['content-length'], '10');
    assert.equal(seen?.method, 'POST');
    assert.equal(seen?.path, '/a%2Fb');
    assert.deepEqual(
      [...(seen?.query ?? [])],
      [
        ['x', '1'],
        ['x', '2'],
        ['y', ' '],
      ],
    );
    assert.equal(seen?.headers['content-type'], 'c');
  });

  test(`${version}: answers HEAD without a body`, { timeout }, async () => {
    const got = await connectTo(await start(async () => text('12345'))).send({ method: 'HEAD' });
    assert.equal(got.status, 200);
    assert.equal(got.headers['content-length'], '5');
    assert.equal(got.text, '');
  });

  test(`${version}: reads the peer from the client certificate`, { timeout }, async () => {
    const server = await start(async ({ peer }) => text(JSON.stringify(peer)));
    const peerOf = async (identity?: Identity): Promise<unknown> =>
      JSON.parse((await connectTo(server, identity).send({})).text);
    const address = '127.0.0.1';
    const { raw } = new X509Certificate(jane.certificate);
    const fingerprint = createHash('sha256').update(raw).digest('hex');
    const { validFrom, validTo } = new X509Certificate(jane.certificate);
    const times = { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
    const names = { commonName: 'jane', organizations: ['one', 'two'] };
    assert.deepEqual(await peerOf(jane), {
      address,
      certificate: { ...names, fingerprint, ...times },
    });
    const odd = (subject: Attributes): Promise<unknown> =>
      peerOf(certificateWithSubject(authority, subject));
    for (const twice of [['a', 'b'] as const, ['a', 'a'] as const]) {
      const subject = twice.map((name) => ['CN', name] as const);
      assert.deepEqual(await odd(subject), { address, untrustedCertificate: true });
    }
    assert.deepEqual(
      await odd([['O', 'system:masters']]),
      { address },
      'the certificate has no common name',
    );
    assert.deepEqual(await peerOf(foreignClient), { address, untrustedCertificate: true });
    assert.deepEqual(await peerOf(), { address });
  });
}

function testLimits({ version, connectTo }: Http): void {
  test(`${version}: accepts a body of 3 MiB, and none larger`, {
    timeout,
  }, async () => {
    const client = connectTo(await start(readBody));
    const limit = 3 * 1024 * 1024;
    const post = (size: number): Promise<TestResponse> =>
      client.send({ method: 'POST', body: Buffer.alloc(size) });
    assert.equal((await post(limit)).text, String(limit));
    const refused = { status: 413, text: `Request entity too large: limit is ${limit}` };
    const { status, text: why } = await post(limit + 1);
    assert.deepEqual({ status, text: why }, refused);
    const large = await post(16 * limit);
    assert.deepEqual({ status: large.status, text: large.text }, refused);
    assert.equal((await post(1)).text, '1', 'the next request is answered');
  });

  test(`${version}: keeps repeated impersonation headers as a list`, { timeout }, async () => {
    const server = await start(async ({ headers }) => text(JSON.stringify(headers)));
    const { text: seen } = await connectTo(server).send({
      headers: {
        'Impersonate-Group': ['a, b', 'c'],
        'impersonate-user': 'x',
        accept: ['d', 'e'],
      },
    });
    const headers = JSON.parse(seen);
    assert.deepEqual(headers['impersonate-group'], ['a, b', 'c']);
    assert.deepEqual(headers['impersonate-user'], ['x']);
    assert.equal(headers.accept, 'd, e');
  });

  test(`${version}: sends each warning as a header of its own, in UTF-8`, { timeout }, async () => {
    const warning = ['299 - "é日"', '299 - "b"'];
    const server = await start(async () => ({ ...text(''), headers: { warning } }));
    const { headers } = await connectTo(server).send({});
    const seen = Buffer.from(String(headers.warning), 'latin1').toString('utf8');
    assert.equal(seen, warning.join(', '));
  });

  test(`${version}: answers 500 where a response cannot be written, and keeps the connection`, {
    timeout,
  }, async () => {
    const logged: string[] = [];
    const log: Log = { ...silentLog, error: (message) => logged.push(message) };
    const server = await start(
      async ({ path }) => {
        if (path === '/broken') throw new Error('broken');
        return text('fine');
      },
      { log },
    );
    assert.equal((await connectTo(server).send({ path: '/broken' })).status, 500);
    assert.equal((await connectTo(server).send({})).text, 'fine');
    assert.deepEqual(logged, ['Failed to respond']);
  });
}

for (const http of bothVersions(closing)) {
  testRequests(http);
  testLimits(http);
}

test('startServer() rejects a truncated body with 400', { timeout }, async () => {
  let report = (_error: unknown): void => {};
  const failed = new Promise<unknown>((resolve) => {
    report = resolve;
  });
  const server = await start(async (request) => {
    report(await request.body().catch((error: unknown) => error));
    return text('');
  });
  const socket = connectTls({
    port: server.address.port,
    host: '127.0.0.1',
    ca: authority.certificate,
  });
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n');
  socket.end('too short');
  const error = await failed;
  assert.ok(isApiError(error));
  assert.equal(error.status.code, 400);
  socket.destroy();
  await server.drain();
});

test('startServer() rejects when the port is in use', async () => {
  const server = await start(async () => text(''));
  const { port } = server.address;
  await assert.rejects(
    startServer({ host: '127.0.0.1', port, tls, handle: async () => text(''), log: silentLog }),
    { code: 'EADDRINUSE' },
  );
  await server.drain();
});

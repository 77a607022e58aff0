// Requests that follow large responses on one HTTP/1.1 connection with keep-alive.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { connect } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { authority, start } from './example.ts';

const timeout = 60_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

/** More than fits into socket buffers. */
const largeAnswer = Buffer.alloc(32 * 1024 * 1024, 'x');
/** More than one TLS record. */
const body = Buffer.alloc(20 * 1024, 'y');
const request = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

test('HTTP/1.1: answers a request that arrives while the previous response is not read', {
  timeout,
}, async () => {
  const server = await start(async (received) => {
    const { length } = await received.body();
    return {
      status: 200,
      headers: {},
      body: length === 0 ? largeAnswer : Buffer.from(`${length}`),
    };
  });
  closing.push(server.drain);
  const socket = connect({
    host: '127.0.0.1',
    port: server.address.port,
    ca: authority.certificate,
  });
  await once(socket, 'secureConnect');
  socket.write(request(0));
  await once(socket, 'readable');
  // In one write, so that the server decrypts several records in one go.
  socket.write(Buffer.concat([Buffer.from(request(body.length)), body]));
  let received = 0;
  let tail = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    tail = (tail + String(chunk)).slice(-1024);
    if (received > largeAnswer.length && tail.endsWith(`\r\n\r\n${body.length}`)) socket.end();
  });
  await once(socket, 'close');
  assert.match(tail, /^x+HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n20480$/);
});

/** In a thread, so that it sends while the server writes. */
const client = `
const { Agent, request } = require('node:https');
const { workerData, parentPort } = require('node:worker_threads');
const { port, ca, exchanges, bytes } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
const body = Buffer.alloc(bytes);
const headers = { 'content-length': bytes };
const exchange = () => new Promise((resolve) => {
  const sent = request({ host: '127.0.0.1', port, method: 'POST', agent, headers }, (answer) => {
    answer.on('error', (error) => resolve(error.code)).on('end', () => resolve('ok')).resume();
  });
  sent.on('error', (error) => resolve(error.code)).end(body);
});
(async () => {
  const outcomes = {};
  for (let at = 0; at < exchanges; at += 1) {
    const outcome = await exchange();
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  agent.destroy();
  parentPort.postMessage(outcomes);
})();`;

test('HTTP/1.1: answers thousands of large requests on one connection', { timeout }, async () => {
  const answer = Buffer.alloc(82 * 1024);
  const server = await start(async (received) => {
    await received.body();
    return { status: 200, headers: {}, body: answer };
  });
  closing.push(server.drain);
  const exchanges = 5000;
  const worker = new Worker(client, {
    eval: true,
    workerData: {
      port: server.address.port,
      ca: authority.certificate,
      ...{ exchanges, bytes: body.length },
    },
  });
  const [outcomes] = await once(worker, 'message');
  assert.deepEqual(outcomes, { ok: exchanges });
});

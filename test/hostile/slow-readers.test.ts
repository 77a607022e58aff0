// Requests with bodies that follow answers which are read slowly, on connections that are kept alive: each is read to its end. Node pauses
// and resumes such connections all the time, and where it loses count of that a request waits for ever (`src/host/keep-parsing.ts`).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { authority, start } from '../../src/apiserver/listen/example.ts';

const timeout = 120_000;
/** Larger than what the sockets hold, and written in chunks. */
const listBytes = 800 * 1024;
/** Several TLS records. */
const bodyBytes = 60 * 1024;
const clients = 16;
const exchanges = 100;

/** In a thread, so that it sends while the server writes. Every fourth answer is read a little at a time. */
const client = `
const { Agent, request } = require('node:https');
const { workerData, parentPort } = require('node:worker_threads');
const { port, ca, clients, exchanges, bodyBytes, ahead } = workerData;
const body = Buffer.alloc(bodyBytes);
const iteration = () => new Promise((resolve) => setImmediate(resolve));
const readSlowly = async (answer) => {
  for await (const _ of answer) for (let n = 0; n < 3; n += 1) await iteration();
};
const exchange = (agent, isSlow, isWrite) => new Promise((resolve) => {
  const headers = isWrite ? { 'content-length': bodyBytes } : {};
  const options = { host: '127.0.0.1', port, agent, method: isWrite ? 'POST' : 'GET', headers };
  const sent = request(options, (answer) => {
    answer.on('error', (error) => resolve(error.code));
    if (isSlow) return void readSlowly(answer).then(() => resolve(answer.statusCode), (error) => resolve(error.code));
    answer.on('end', () => resolve(answer.statusCode)).resume();
  });
  sent.on('error', (error) => resolve(error.code)).end(isWrite ? body : undefined);
});
(async () => {
  const outcomes = {};
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
    for (let at = 0; at < exchanges; at += 1) {
      const outcome = await exchange(agent, (client + at) % 4 === 0, at % 2 === 1);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    agent.destroy();
  }));
  parentPort.postMessage(outcomes);
})();`;

test('requests with bodies behind answers that are read slowly are all read to their end', {
  timeout,
}, async () => {
  const list = Buffer.alloc(listBytes, 'x');
  const server = await start(async (received) => {
    const { length } = await received.body();
    assert.ok(length === 0 || length === bodyBytes);
    return { status: 200, headers: {}, body: list };
  });
  after(server.drain);
  const worker = new Worker(client, {
    eval: true,
    workerData: {
      port: server.address.port,
      ca: authority.certificate,
      ...{ clients, exchanges, bodyBytes },
    },
  });
  const [outcomes] = await once(worker, 'message');
  assert.deepEqual(outcomes, { 200: clients * exchanges });
});

// Logs and watches over WebSocket, as browsers read them: the server sends messages, the client none.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };

const command = ['sh', '-c', 'echo one; echo two; exec sleep 1000'];

async function startTalking(t: TestContext) {
  const harness = await startNodeHarness(t);
  const containers = [{ name: 'app', image: 'process', command }];
  await harness.run('web', { terminationGracePeriodSeconds: 0, containers });
  await harness.until('web', isPodReady);
  const { authority, administrator } = testCredentials();
  const { port } = harness.server.server.address;
  return (path: string, protocols: string[] = []) =>
    new WebSocket(`wss://127.0.0.1:${port}${path}`, protocols, {
      ca: authority.certificate,
      cert: administrator.certificate,
      key: administrator.privateKey,
    });
}

type Message = { readonly text: string; readonly isBinary: boolean };

/** Until the server closes, or enough has come. */
async function messagesOf(socket: WebSocket, isEnough = (_all: readonly Message[]) => false) {
  const messages: Message[] = [];
  socket.on('message', (data, isBinary) => {
    messages.push({ text: String(data), isBinary });
    if (isEnough(messages)) socket.close();
  });
  await once(socket, 'close');
  return messages;
}

const logPath = '/api/v1/namespaces/default/pods/web/log';

test('a log is sent in messages after an empty one, as bytes or in base64', limit, async (t) => {
  const open = await startTalking(t);
  const [first, ...rest] = await messagesOf(open(logPath));
  assert.deepEqual(first, { text: '', isBinary: true });
  assert.equal(rest.map(({ text }) => text).join(''), 'one\ntwo\n');
  const encoded = open(logPath, ['base64.binary.k8s.io']);
  const [empty, ...lines] = await messagesOf(encoded);
  assert.equal(encoded.protocol, 'base64.binary.k8s.io');
  assert.deepEqual(empty, { text: '', isBinary: false });
  const decoded = lines.map(({ text }) => Buffer.from(text, 'base64').toString());
  assert.equal(decoded.join(''), 'one\ntwo\n');
  const followed = open(`${logPath}?follow=true`);
  const all = await messagesOf(followed, (so) => so.some(({ text }) => text.includes('two')));
  assert.match(all.map(({ text }) => text).join(''), /^one\ntwo\n$/);
});

test('an unknown protocol is refused', limit, async (t) => {
  const open = await startTalking(t);
  const socket = open(logPath, ['v9.k8s.io']);
  const [error] = await once(socket, 'error');
  assert.match(String(error), /Unexpected server response: 403/);
});

test('a watch is a message for each event', limit, async (t) => {
  const open = await startTalking(t);
  const path = '/api/v1/namespaces/default/pods?watch=1&resourceVersion=0';
  const [event] = await messagesOf(open(path), (all) => all.length > 0);
  assert.equal(event?.isBinary, false);
  const { type, object } = JSON.parse(event?.text ?? '');
  assert.deepEqual([type, object.kind, object.metadata.name], ['ADDED', 'Pod', 'web']);
});

// Addresses of the local provider, answered for by real announcers and carried by real proxies on the real kernel.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInLab } from './lab/enter.ts';

const timeout = 120_000;

async function measured(scenario: string): Promise<Readonly<Record<string, unknown>>> {
  const { code, output } = await runInLab('balance-load.js', [scenario]);
  assert.equal(code, 0, output);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '{}');
}

test('a client on the lan reaches a Service at its addresses of both families', {
  timeout,
}, async () => {
  await measured('reach');
});

test("policy Local: the client's address arrives, and only nodes with endpoints pass the health check (LBC-16, LBC-37, KPX-36)", {
  timeout,
}, async () => {
  await measured('local');
});

test('the node that answers is killed: the other answers', { timeout }, async () => {
  await measured('failOver');
});

test('the announcer that answers ends in order: the other answers', { timeout }, async () => {
  await measured('leave');
});

test('the node that answers loses the API server: the other takes over, and it gives way', {
  timeout,
}, async () => {
  await measured('cutOff');
});

test('without the API server the announcing node continues', { timeout }, async () => {
  await measured('outage');
});

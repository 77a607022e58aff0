// Reading a snapshot from a real API server, with all rights and with few.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiCaller } from '../../../src/client/api-call.ts';
import { readSnapshot } from '../../../src/snapshot/read-snapshot.ts';
import { type RightsHarness, startRightsHarness } from '../harness/rights-harness.ts';

const limit = { timeout: 60_000 };

async function start(): Promise<RightsHarness> {
  const harness = await startRightsHarness();
  for (const name of ['a', 'b']) {
    await harness.apply(`
apiVersion: v1
kind: Namespace
metadata: {name: ${name}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ${name}}
spec: {selector: {app: web}, ports: [{port: 80}]}
`);
  }
  return harness;
}

const callerOf = ({ sendAs }: RightsHarness, account: string): ApiCaller => ({
  transport: { send: sendAs(account), close: () => Promise.resolve() },
  userAgent: 'test',
});

const everything = [{ group: '*', resources: ['*'], verbs: ['list'] }];

test('readSnapshot() reads all lists at the revision of the first', limit, async (t) => {
  const harness = await start();
  t.after(harness.stop);
  await harness.grant('reader', everything);
  const caller = callerOf(harness, 'reader');
  let isWritten = false;
  const send: typeof caller.transport.send = async (request) => {
    const response = await caller.transport.send(request);
    // Between the first list and the others.
    if (!isWritten) {
      isWritten = true;
      await harness.apply('{apiVersion: v1, kind: Namespace, metadata: {name: late}}');
    }
    return response;
  };
  const snapshot = await readSnapshot({ ...caller, transport: { ...caller.transport, send } });
  assert.deepEqual(snapshot.unread, []);
  const names = snapshot.objects.namespaces.map(({ metadata }) => metadata.name);
  assert.ok(names.includes('a') && names.includes('b'));
  assert.ok(!names.includes('late'), 'the namespace was created after the revision');
  assert.match(snapshot.revision ?? '', /^\d+$/);
});

test('readSnapshot() goes on without what it may not read, and says so', limit, async (t) => {
  const harness = await start();
  t.after(harness.stop);
  await harness.grant('reader', [{ group: '', resources: ['services'], verbs: ['list'] }]);
  const snapshot = await readSnapshot(callerOf(harness, 'reader'), {
    kinds: ['pods', 'services', 'nodes'],
    namespaces: ['a'],
  });
  assert.deepEqual(
    snapshot.objects.services.map(({ metadata }) => metadata.namespace),
    ['a'],
  );
  assert.deepEqual(
    snapshot.unread.map(({ kind, namespace, reason }) => ({ kind, namespace, reason })),
    [
      { kind: 'pods', namespace: 'a', reason: 'forbidden' },
      { kind: 'nodes', namespace: undefined, reason: 'forbidden' },
    ],
  );
  assert.match(snapshot.unread[0]?.message ?? '', /cannot list resource "pods"/);
});

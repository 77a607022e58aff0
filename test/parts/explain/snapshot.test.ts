// Reading a snapshot from a real API server, with all rights and with few.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ApiCaller } from '../../../src/client/api-call.ts';
import { failureAnswer } from '../../../src/client/example.ts';
import { findRevision, readChanges } from '../../../src/snapshot/read-history.ts';
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

test(
  'readSnapshot() reads what was at an earlier time, and says what it read as it is',
  limit,
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-past-'));
    const history = { directory, retentionMs: 3_600_000, maxBytes: 1 << 24 };
    const harness = await startRightsHarness(undefined, { history });
    t.after(async () => {
      await harness.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    const { api } = harness.server;
    await harness.grant('reader', everything);
    const caller = callerOf(harness, 'reader');
    const service = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } };
    await api.post('/api/v1/namespaces/default/services', service);
    const timeMs = harness.clock.now();
    await harness.clock.advance(60_000);
    await api.delete('/api/v1/namespaces/default/services/web');
    await harness.apply('{apiVersion: v1, kind: Namespace, metadata: {name: late}}');
    const names = (all: readonly { readonly metadata: { readonly name?: string } }[]) =>
      all.map(({ metadata }) => metadata.name);
    const past = await readSnapshot(caller, {
      kinds: ['namespaces', 'pods', 'services'],
      at: { timeMs },
    });
    assert.deepEqual(names(past.objects.services), ['kubernetes', 'web']);
    assert.ok(names(past.objects.namespaces).includes('late'));
    assert.deepEqual(past.present, ['namespaces']);
    assert.equal(past.revision, await findRevision(caller, timeMs));
    const web = { kind: 'services', namespace: 'default' } as const;
    const { changes } = await readChanges(caller, web, { sinceMs: timeMs });
    assert.deepEqual(
      changes.map(({ type }) => type),
      ['Created', 'Deleted'],
    );
    const present = await readSnapshot(caller, { kinds: ['services'] });
    assert.deepEqual(names(present.objects.services), ['kubernetes']);
    await assert.rejects(readSnapshot(caller, { at: { timeMs: timeMs - 60_000 } }), {
      name: 'HistoryUnavailable',
      message: /^History is kept since 2026-01-01T00:00:00\.000000Z, resource version \d+$/,
    });
  },
);

test('readSnapshot() of an earlier time says that a server keeps no history', limit, async (t) => {
  const harness = await start();
  t.after(harness.stop);
  await harness.grant('reader', everything);
  await assert.rejects(readSnapshot(callerOf(harness, 'reader'), { at: { timeMs: 0 } }), {
    name: 'HistoryUnavailable',
    message: 'History is not kept: --history-retention is 0',
  });
  for (const answer of [
    failureAnswer(404, 'NotFound'),
    failureAnswer(
      403,
      'Forbidden',
      'services.history.fairlead.dev is forbidden: User "eve" cannot list resource "services" in API group "history.fairlead.dev" at the cluster scope',
    ),
  ]) {
    const transport = { send: () => Promise.resolve(answer), close: () => Promise.resolve() };
    await assert.rejects(findRevision({ transport, userAgent: 'test' }, 0), {
      name: 'HistoryUnavailable',
      message: 'This API server keeps no history: only servers of Fairlead do',
    });
  }
});

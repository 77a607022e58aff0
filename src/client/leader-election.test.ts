import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { Lease, LeaseSpec } from '../kinds/lease/types.ts';
import { silentLog } from '../observe/log.ts';
import { formatMicroTime } from '../schema/time.ts';
import { failureAnswer, jsonAnswer, scriptedTransport } from './example.ts';
import { defaultTiming, desiredLease, runElection } from './leader-election.ts';
import type { Transport } from './transport.ts';

const lease = (spec: LeaseSpec): Lease => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'l', namespace: 'n', resourceVersion: '1' },
  spec,
});

const cases: readonly {
  name: string;
  lease: Lease | undefined;
  seenMsAgo?: number;
  wanted: { holder: string; transitions: number } | undefined;
}[] = [
  {
    name: 'takes a lease that does not exist',
    lease: undefined,
    wanted: { holder: 'me', transitions: 0 },
  },
  {
    name: 'takes a lease that was released',
    lease: lease({ holderIdentity: '', leaseTransitions: 3 }),
    wanted: { holder: 'me', transitions: 4 },
  },
  {
    name: 'renews its own lease',
    lease: lease({ holderIdentity: 'me', leaseTransitions: 3 }),
    wanted: { holder: 'me', transitions: 3 },
  },
  {
    name: 'leaves a lease alone that it has only just seen, however old its time is',
    lease: lease({
      holderIdentity: 'you',
      leaseDurationSeconds: 15,
      renewTime: formatMicroTime(0),
    }),
    wanted: undefined,
  },
  {
    name: 'leaves a lease alone that was renewed within its duration',
    lease: lease({
      holderIdentity: 'you',
      leaseDurationSeconds: 15,
      renewTime: formatMicroTime(0),
    }),
    seenMsAgo: 15_000,
    wanted: undefined,
  },
  {
    name: 'takes a lease that was not renewed in its duration',
    lease: lease({
      holderIdentity: 'you',
      leaseDurationSeconds: 15,
      renewTime: formatMicroTime(0),
      leaseTransitions: 1,
    }),
    seenMsAgo: 15_001,
    wanted: { holder: 'me', transitions: 2 },
  },
];
for (const { name, lease: found, seenMsAgo, wanted } of cases) {
  test(`decideLease() ${name}`, () => {
    const now = 1_000_000;
    const { holderIdentity = '', renewTime = '' } = found?.spec ?? {};
    const observed =
      seenMsAgo === undefined
        ? { renewal: '', at: 0 }
        : { renewal: `${holderIdentity} ${renewTime}`, at: now - seenMsAgo };
    const result = desiredLease({
      lease: found,
      observed,
      identity: 'me',
      now,
      timing: defaultTiming,
    });
    assert.deepEqual(
      result && { holder: result.spec.holderIdentity, transitions: result.spec.leaseTransitions },
      wanted,
    );
  });
}

/** A server that stores one lease. */
function leaseServer(): {
  transport: Transport;
  lease: () => Lease | undefined;
  fail: (on: boolean) => void;
} {
  let stored: Lease | undefined;
  let failing = false;
  let version = 0;
  const transport = scriptedTransport(({ method, body }) => {
    if (failing) return failureAnswer(503, 'ServiceUnavailable');
    if (method === 'GET')
      return stored === undefined ? failureAnswer(404, 'NotFound') : jsonAnswer(stored);
    const sent = JSON.parse(String(body)) as Lease;
    if (stored !== undefined && sent.metadata.resourceVersion !== stored.metadata.resourceVersion) {
      return failureAnswer(409, 'Conflict');
    }
    version += 1;
    stored = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(version) } };
    return jsonAnswer(stored);
  });
  return {
    transport,
    lease: () => stored,
    fail: (on) => {
      failing = on;
    },
  };
}

test('runElection() lets one replica lead, and the next when the first stops', async () => {
  const server = leaseServer();
  const clock = createFakeClock();
  const leading = new Set<string>();
  const start = (identity: string) => {
    const stop = new AbortController();
    const caller = { transport: server.transport, userAgent: 'test' };
    const lead = async (signal: AbortSignal): Promise<void> => {
      leading.add(identity);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      leading.delete(identity);
    };
    const options = { caller, namespace: 'n', name: 'l', identity, clock, log: silentLog, lead };
    return { stop, ended: runElection(options, stop.signal) };
  };
  const first = start('first');
  await clock.settle();
  const second = start('second');
  await clock.advance(60_000);
  assert.deepEqual([...leading], ['first']);
  first.stop.abort();
  await first.ended;
  assert.equal(server.lease()?.spec.holderIdentity, '');
  await clock.advance(2000);
  assert.deepEqual([...leading], ['second']);
  server.fail(true);
  await clock.advance(12_000);
  assert.deepEqual([...leading], []);
  server.fail(false);
  await clock.advance(2000);
  assert.deepEqual([...leading], ['second']);
  second.stop.abort();
  await second.ended;
});

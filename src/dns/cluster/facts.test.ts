import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { zoneOf } from './example.ts';
import { podFacts } from './facts.ts';

const pod = (spec: Partial<Pod['spec']>, status: Pod['status']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'a', name: 'p' },
  spec: { containers: [], ...spec },
  status,
});
const addresses = { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }, { ip: 'fd44::3' }] };

test('podFacts() returns all addresses of a pod (DNS-23)', () => {
  assert.deepEqual(podFacts(pod({}, addresses)), {
    namespace: 'a',
    name: 'p',
    addresses: ['10.1.2.3', 'fd44::3'],
  });
});

for (const phase of ['Succeeded', 'Failed'] as const) {
  test(`podFacts() returns nothing for a pod that has ${phase.toLowerCase()} (DNS-23)`, () =>
    assert.equal(podFacts(pod({}, { phase, ...addresses })), undefined));
}

test('podFacts() returns nothing for a pod without an address (DNS-23)', () =>
  assert.equal(podFacts(pod({}, { phase: 'Pending' })), undefined));

test('podFacts() marks a hostNetwork pod, whose address does not identify it as a client (DNS-23)', () => {
  const onHost = podFacts(pod({ hostNetwork: true }, { podIP: '10.20.0.11' }));
  const own = podFacts(pod({}, addresses));
  assert.ok(onHost && own);
  const zone = zoneOf(
    { kind: 'pod', key: 'a/h', facts: onHost },
    { kind: 'pod', key: 'a/p', facts: own },
  );
  assert.deepEqual(zone.podsAt('10.20.0.11'), [onHost]);
  assert.equal(zone.podOf('10.20.0.11'), undefined);
  assert.equal(zone.podOf('10.1.2.3'), own);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../kinds/service/types.ts';
import { exampleService } from '../example.ts';
import { changeEvent } from './change-events.ts';
import {
  droppedConditions,
  failedCondition,
  readyCondition,
  solvedConditions,
  statusPatch,
} from './status.ts';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';
const failed = { reason: 'NoPool', message: 'there is none', time: early };
const withCondition = (status: 'True' | 'False'): Service =>
  exampleService({
    status: {
      loadBalancer: {},
      conditions: [
        ...[{ type: 'LoadBalancerPortsError', status: 'False' as const, reason: 'X', message: '' }],
        { type: readyCondition, status, reason: failed.reason, message: failed.message },
      ].map((condition) => ({ ...condition, lastTransitionTime: early })),
    },
  });

describe('conditions', () => {
  test('the first failure makes one, the same again changes nothing', () => {
    const condition = failedCondition(exampleService(), failed);
    assert.deepEqual(condition, {
      ...{ type: readyCondition, status: 'False', lastTransitionTime: early },
      ...{ reason: 'NoPool', message: 'there is none' },
    });
    assert.equal(failedCondition(withCondition('False'), { ...failed, time: late }), undefined);
  });
  test('another reason keeps the time of the transition, another status does not', () => {
    const other = { ...failed, message: 'they are taken', time: late };
    assert.equal(failedCondition(withCondition('False'), other)?.lastTransitionTime, early);
    assert.equal(failedCondition(withCondition('True'), other)?.lastTransitionTime, late);
  });
  test('what is solved is said only where there was a failure', () => {
    assert.deepEqual(solvedConditions(exampleService(), late), []);
    assert.deepEqual(solvedConditions(withCondition('True'), late), []);
    assert.deepEqual(
      solvedConditions(withCondition('False'), late).map(({ status }) => status),
      ['True'],
    );
  });
  test('a Service that wants no balancer any more loses it', () => {
    assert.deepEqual(droppedConditions(exampleService()), []);
    assert.deepEqual(droppedConditions(withCondition('True')), [
      { $patch: 'delete', type: readyCondition },
    ]);
  });
});

describe('statusPatch()', () => {
  const served = exampleService({
    uid: 'u',
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } },
  });
  test('writes nothing where nothing differs', () => {
    assert.equal(statusPatch(served, [{ ip: '192.0.2.1', ipMode: 'VIP' }]), undefined);
    assert.equal(statusPatch(exampleService(), []), undefined);
  });
  test('replaces and empties, and only in the Service that it is meant for', () => {
    const ingress = [{ hostname: 'a.example.com' }];
    assert.deepEqual(statusPatch(served, ingress), {
      metadata: { uid: 'u' },
      status: { loadBalancer: { ingress } },
    });
    assert.deepEqual(statusPatch(served, []), {
      metadata: { uid: 'u' },
      status: { loadBalancer: { ingress: null } },
    });
  });
});

describe('changeEvent() (LBC-09)', () => {
  const before = exampleService({ uid: 'u1' });
  const changed = (spec: Partial<Service['spec']>): Service => exampleService({ uid: 'u1', spec });
  const cases: readonly [string, Service, string | undefined][] = [
    ['nothing', changed({}), undefined],
    ['the type', changed({ type: 'NodePort' }), 'Type: LoadBalancer -> NodePort'],
    [
      'source ranges',
      changed({ loadBalancerSourceRanges: ['10.0.0.0/8', '192.0.2.0/24'] }),
      'LoadBalancerSourceRanges: [] -> [10.0.0.0/8 192.0.2.0/24]',
    ],
    ['the address', changed({ loadBalancerIP: '192.0.2.9' }), 'LoadbalancerIP:  -> 192.0.2.9'],
    ['external addresses', changed({ externalIPs: ['192.0.2.9'] }), 'ExternalIP: Count: 0 -> 1'],
    [
      'the policy',
      changed({ externalTrafficPolicy: 'Local' }),
      'ExternalTrafficPolicy: Cluster -> Local',
    ],
    ['the check', changed({ healthCheckNodePort: 31000 }), 'HealthCheckNodePort: 0 -> 31000'],
    ['the object', exampleService({ uid: 'u2' }), 'UID: u1 -> u2'],
  ];
  for (const [title, after, want] of cases) {
    test(title, () => {
      const event = changeEvent(before, after);
      assert.equal(event === undefined ? undefined : `${event.reason}: ${event.message}`, want);
    });
  }
  test('is silent about Services that never wanted a balancer', () => {
    const plain = changed({ type: 'ClusterIP' });
    assert.equal(changeEvent(plain, changed({ type: 'NodePort' })), undefined);
  });
});

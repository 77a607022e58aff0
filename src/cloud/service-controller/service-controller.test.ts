import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../kinds/node/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { candidateNodes, hostsKey } from './candidate-nodes.ts';
import { cleanupFinalizer, nextStep } from './desired.ts';
import { needsEnsure } from './needs-ensure.ts';

function service(
  spec: Partial<Service['spec']>,
  metadata: Partial<Service['metadata']> = {},
): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid: '1', ...metadata },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], ...spec },
    status: {},
  } as Service;
}

const node = (
  name: string,
  parts: {
    labels?: Record<string, string>;
    spec?: object;
    status?: object;
    deletionTimestamp?: string;
  } = {},
): Node => {
  const { labels, spec = {}, status = {}, deletionTimestamp } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: name,
      ...(labels === undefined ? {} : { labels }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
    status,
  } as unknown as Node;
};
const finalizers = [cleanupFinalizer];
const deletionTimestamp = '2026-01-01T00:00:00Z';
const excluded = (value: string) => ({
  labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': value },
});

describe('nextStep()', () => {
  const cases: readonly [string, Service, ReturnType<typeof nextStep>][] = [
    ['makes a balancer for type LoadBalancer (LBC-01)', service({}), 'ensure'],
    [
      'leaves a Service with a class to others (LBC-01)',
      service({ loadBalancerClass: 'x/y' }),
      'nothing',
    ],
    ['leaves other types alone', service({ type: 'NodePort' }), 'nothing'],
    [
      'takes the balancer of a Service that is deleted (LBC-04)',
      service({}, { finalizers, deletionTimestamp }),
      'remove',
    ],
    [
      'leaves the finalizer of a Service with a class to others',
      service({ loadBalancerClass: 'x/y' }, { finalizers }),
      'nothing',
    ],
    [
      'leaves it when that Service is deleted',
      service({ loadBalancerClass: 'x/y' }, { finalizers, deletionTimestamp }),
      'nothing',
    ],
    [
      'takes it when the type changes (LBC-05)',
      service({ type: 'ClusterIP' }, { finalizers }),
      'remove',
    ],
    [
      'does nothing for a deleted Service that never had one',
      service({}, { deletionTimestamp }),
      'nothing',
    ],
  ];
  for (const [title, given, want] of cases) {
    test(title, () => assert.equal(nextStep(given), want));
  }
  test('serves the configured class', () => {
    assert.equal(nextStep(service({ loadBalancerClass: 'a/b' }), 'a/b'), 'ensure');
    assert.equal(nextStep(service({}), 'a/b'), 'nothing');
  });
});

describe('needsEnsure() (LBC-09)', () => {
  const before = service({});
  const changes: readonly [string, Service, boolean][] = [
    ['nothing', service({}), false],
    ['a label', service({}, { labels: { a: 'b' } }), false],
    ['the selector', service({ selector: { a: 'b' } }), false],
    ['an annotation', service({}, { annotations: { a: 'b' } }), true],
    [
      'a node port',
      service({ ports: [{ port: 80, protocol: 'TCP', targetPort: 80, nodePort: 30080 }] }),
      true,
    ],
    ['a target port', service({ ports: [{ port: 80, protocol: 'TCP', targetPort: 81 }] }), true],
    ['source ranges', service({ loadBalancerSourceRanges: ['10.0.0.0/8'] }), true],
    ['the requested address', service({ loadBalancerIP: '1.2.3.4' }), true],
    ['the policy', service({ externalTrafficPolicy: 'Local' }), true],
    ['affinity', service({ sessionAffinity: 'ClientIP' }), true],
    ['another object of the same name', service({}, { uid: '2' }), true],
    ['a second family', service({ ipFamilies: ['IPv4', 'IPv6'] }), true],
  ];
  for (const [title, after, want] of changes) {
    test(`${want ? 'looks at' : 'ignores'} ${title}`, () => {
      assert.equal(needsEnsure(before, after), want);
    });
  }
  test('looks at a Service it has not seen', () => assert.ok(needsEnsure(undefined, before)));
});

describe('candidateNodes()', () => {
  const tainted = {
    spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
  };
  test('leaves out nodes that go, are excluded or are about to go, and no others (LBC-11, LBC-12)', () => {
    const nodes = [
      node('c'),
      node('a'),
      node('gone', { deletionTimestamp }),
      node('excluded', excluded('')),
      node('excluded-2', excluded('perhaps')),
      node('included', excluded('false')),
      node('doomed', tainted),
      node('tired', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
    ];
    assert.deepEqual(
      candidateNodes(nodes).map(({ metadata }) => metadata.name),
      ['a', 'c', 'included', 'tired'],
    );
  });
  test('hostsKey() changes with the set and provider ids, not with the deletion taint (LBC-13)', () => {
    const key = hostsKey([node('a'), node('b')]);
    assert.equal(hostsKey([node('b'), node('a', tainted)]), key);
    assert.notEqual(hostsKey([node('a')]), key);
    assert.notEqual(hostsKey([node('a'), node('b', { spec: { providerID: 'x' } })]), key);
    assert.notEqual(hostsKey([node('a'), node('b', excluded(''))]), key);
  });
});

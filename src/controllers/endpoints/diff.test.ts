import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { selectingService } from '../../kinds/service/example-backends.ts';
import type { DesiredEndpoints } from './desired.ts';
import { diffEndpoints } from './diff.ts';

const service = selectingService();
const time = '2026-01-01T00:00:00Z';
const timed = { 'endpoints.kubernetes.io/last-change-trigger-time': time };
const truncated = { 'endpoints.kubernetes.io/over-capacity': 'truncated' };
const labels = { a: 'b' };
const targetRef = { kind: 'Pod', name: 'p', namespace: 'default', uid: 'u' };
const subsets = [{ addresses: [{ ip: '10.1.0.1', targetRef }], ports: [{ port: 80 }] }];
const desired: DesiredEndpoints = { labels, subsets, isTruncated: false };

function stored(metadata: object = {}, more: object = {}): Endpoints {
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'e',
      resourceVersion: '7',
      labels,
      ...metadata,
    },
    subsets,
    ...more,
  };
}

test('diffEndpoints() creates what is not there (EPC-01, EPC-11)', () => {
  assert.deepEqual(diffEndpoints({ service, desired, triggerTime: time }), {
    action: 'create',
    endpoints: {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: 'web', namespace: 'default', labels, annotations: timed },
      subsets,
    },
  });
});

test('diffEndpoints() creates Endpoints without subsets for a service without pods (EPC-01)', () => {
  const change = diffEndpoints({ service, desired: { ...desired, subsets: [] } });
  assert.ok(change.action === 'create');
  assert.equal('subsets' in change.endpoints, false);
});

const unchanged = [
  { title: 'nothing differs', current: stored() },
  {
    title: 'only other annotations and the trigger time differ',
    current: stored({ annotations: { x: 'y', ...timed } }),
  },
  {
    title: "only a pod's resource version differs",
    current: stored(
      {},
      {
        subsets: [
          {
            addresses: [{ ip: '10.1.0.1', targetRef: { ...targetRef, resourceVersion: '5' } }],
            ports: [{ port: 80 }],
          },
        ],
      },
    ),
  },
];

for (const { title, current } of unchanged) {
  test(`diffEndpoints() writes nothing when ${title} (EPC-12)`, () => {
    assert.deepEqual(diffEndpoints({ service, desired, current, triggerTime: time }), {
      action: 'none',
    });
  });
}

const changed = [
  { title: 'labels', current: stored({ labels: { a: 'c' } }) },
  { title: 'additional labels', current: stored({ labels: { ...labels, x: 'y' } }) },
  { title: 'subsets', current: stored({}, { subsets: [{ addresses: [{ ip: '10.9.9.9' }] }] }) },
  { title: 'missing subsets', current: stored({}, { subsets: undefined }) },
  {
    title: 'an outdated capacity annotation',
    current: stored({ annotations: truncated }),
  },
  {
    title: 'a capacity annotation of an older controller',
    current: stored({ annotations: { 'endpoints.kubernetes.io/over-capacity': 'warning' } }),
  },
];

for (const { title, current } of changed) {
  test(`diffEndpoints() puts right ${title}, and keeps the identity (EPC-09, EPC-10, EPC-12)`, () => {
    const change = diffEndpoints({ service, desired, current });
    assert.deepEqual(change, { action: 'update', endpoints: stored() });
  });
}

test('diffEndpoints() keeps annotations of others and drops the trigger time of an untimed change (EPC-11)', () => {
  const current = stored({ annotations: { x: 'y', ...timed }, labels: {} });
  assert.deepEqual(diffEndpoints({ service, desired, current }), {
    action: 'update',
    endpoints: stored({ annotations: { x: 'y' } }),
  });
});

test('diffEndpoints() says that addresses were left out (EPC-09)', () => {
  const change = diffEndpoints({
    service,
    desired: { ...desired, isTruncated: true },
    current: stored(),
  });
  assert.deepEqual(change, { action: 'update', endpoints: stored({ annotations: truncated }) });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { EndpointSubset, Endpoints } from '../../kinds/endpoints/types.ts';
import { desiredMirror } from './desired.ts';
import { diffMirror } from './diff.ts';

function endpoints(subsets: readonly EndpointSubset[], metadata: object = {}): Endpoints {
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-e', ...metadata },
    subsets,
  };
}

const v4 = (ip = '10.1.0.1', port = 80): EndpointSubset => ({
  addresses: [{ ip }],
  ports: [{ port }],
});
const both: EndpointSubset = {
  addresses: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }],
  ports: [{ port: 80 }],
};

const diff = (object: Endpoints, existing: readonly EndpointSlice[]): SliceChanges =>
  diffMirror(object, desiredMirror(object, 1000), existing);

/** The slices of these Endpoints as the server stored them: s0, s1 and so on. */
function stored(object: Endpoints): readonly EndpointSlice[] {
  return diff(object, []).create.map((slice, i) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `s${i}`, uid: `uid-s${i}`, resourceVersion: '5' },
  }));
}

function summary({
  create,
  update,
  delete: gone,
}: SliceChanges): Record<string, readonly string[]> {
  const text = ({ metadata, addressType, endpoints: inside, ports }: EndpointSlice): string =>
    `${metadata.name ?? 'new'} ${addressType} ${inside?.[0]?.addresses?.[0]}:${ports?.[0]?.port}`;
  const entries = Object.entries({ create, update, delete: gone });
  return Object.fromEntries(
    entries.flatMap(([what, slices]) => (slices.length === 0 ? [] : [[what, slices.map(text)]])),
  );
}

type Case = {
  readonly title: string;
  readonly before: Endpoints;
  readonly after: Endpoints;
  readonly changes: Record<string, readonly string[]>;
};

const cases: readonly Case[] = [
  {
    title: 'makes slices (MIR-01)',
    before: endpoints([]),
    after: endpoints([v4()]),
    changes: { create: ['new IPv4 10.1.0.1:80'] },
  },
  {
    title: 'does nothing when nothing changes (MIR-01)',
    before: endpoints([both]),
    after: endpoints([both]),
    changes: {},
  },
  {
    title: 'keeps the slice when addresses change (MIR-06)',
    before: endpoints([v4()]),
    after: endpoints([v4('10.1.0.2')]),
    changes: { update: ['s0 IPv4 10.1.0.2:80'] },
  },
  {
    title: 'keeps the slice when ports change (MIR-06)',
    before: endpoints([v4()]),
    after: endpoints([v4('10.1.0.1', 99)]),
    changes: { update: ['s0 IPv4 10.1.0.1:99'] },
  },
  {
    title: 'creates a slice for a new family (MIR-03)',
    before: endpoints([v4()]),
    after: endpoints([both]),
    changes: { create: ['new IPv6 fd00::1:80'] },
  },
  {
    title: 'deletes the slice of a removed family (MIR-03)',
    before: endpoints([both]),
    after: endpoints([v4()]),
    changes: { delete: ['s1 IPv6 fd00::1:80'] },
  },
  {
    title: 'never reuses a slice for another family (MIR-03)',
    before: endpoints([v4()]),
    after: endpoints([v4('fd00::1')]),
    changes: { create: ['new IPv6 fd00::1:80'], delete: ['s0 IPv4 10.1.0.1:80'] },
  },
  {
    title: 'deletes all when there are no addresses (MIR-08)',
    before: endpoints([v4()]),
    after: endpoints([]),
    changes: { delete: ['s0 IPv4 10.1.0.1:80'] },
  },
  {
    title: 'follows labels (MIR-06)',
    before: endpoints([v4()]),
    after: endpoints([v4()], { labels: { a: 'b' } }),
    changes: { update: ['s0 IPv4 10.1.0.1:80'] },
  },
  {
    title: 'follows annotations (MIR-06)',
    before: endpoints([v4()]),
    after: endpoints([v4()], { annotations: { a: 'b' } }),
    changes: { update: ['s0 IPv4 10.1.0.1:80'] },
  },
  {
    title: 'updates the owner reference (MIR-06)',
    before: endpoints([v4()]),
    after: endpoints([v4()], { uid: 'new' }),
    changes: { update: ['s0 IPv4 10.1.0.1:80'] },
  },
  {
    title: 'creates nothing for Endpoints that are being deleted (MIR-08)',
    before: endpoints([]),
    after: endpoints([v4()], { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    changes: {},
  },
];

for (const { title, before, after, changes } of cases) {
  test(`diffMirror() ${title}`, () => {
    assert.deepEqual(summary(diff(after, stored(before))), changes);
  });
}

test('diffMirror() creates slices owned by the Endpoints, with their labels and annotations (MIR-01, MIR-06)', () => {
  const object = endpoints([v4()], {
    labels: { a: 'b' },
    annotations: {
      note: 'n',
      'endpoints.kubernetes.io/last-change-trigger-time': 'x',
      'kubectl.kubernetes.io/last-applied-configuration': 'x',
    },
  });
  assert.deepEqual(diff(object, []).create[0]?.metadata, {
    generateName: 'web-',
    namespace: 'default',
    labels: {
      a: 'b',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    annotations: { note: 'n' },
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        name: 'web',
        uid: 'uid-e',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
});

test('diffMirror() deletes a second slice for the same ports, and keeps resource versions (MIR-03)', () => {
  const object = endpoints([v4()]);
  const [first] = stored(object);
  assert.ok(first !== undefined);
  const second = { ...first, metadata: { ...first.metadata, name: 'twin', uid: 'twin' } };
  assert.deepEqual(summary(diff(object, [first, second])), { delete: ['twin IPv4 10.1.0.1:80'] });
  const [update] = diff(endpoints([v4('10.1.0.9')]), [first]).update;
  assert.equal(update?.metadata.resourceVersion, '5');
});

test('diffMirror() removes generateName from updated slices, not from reused ones (MIR-06)', () => {
  const existing = stored(endpoints([v4()]));
  const prefixes = (object: Endpoints) =>
    diff(object, existing).update.map(({ metadata }) => [metadata.name, metadata.generateName]);
  assert.deepEqual(prefixes(endpoints([v4('10.1.0.2')])), [['s0', undefined]]);
  assert.deepEqual(prefixes(endpoints([v4('10.1.0.1', 99)])), [['s0', 'web-']]);
});

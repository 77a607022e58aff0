import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChangeCounts, countChanges, type SliceChanges } from './count-changes.ts';
import type { EndpointSlice } from './types.ts';

const slice = (uid: string, ips: readonly string[], port = 80): EndpointSlice => ({
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  metadata: { name: uid, uid },
  addressType: 'IPv4',
  endpoints: ips.map((ip) => ({ addresses: [ip], conditions: {} })),
  ports: [{ port }],
});
const none: SliceChanges = { create: [], update: [], delete: [] };
const old = slice('a', ['1', '2']);

type Case = {
  readonly title: string;
  readonly existing: readonly EndpointSlice[];
  readonly changes: SliceChanges;
  readonly counts: readonly (keyof ChangeCounts | number)[];
};

const cases: readonly Case[] = [
  { title: 'nothing', existing: [old], changes: none, counts: [0, 0, 0, 2, 1, 1] },
  {
    title: 'a first slice',
    existing: [],
    changes: { ...none, create: [old] },
    counts: [2, 0, 1, 2, 1, 1],
  },
  {
    title: 'an exchanged endpoint',
    existing: [old],
    changes: { ...none, update: [slice('a', ['2', '3'])] },
    counts: [1, 1, 1, 2, 1, 1],
  },
  {
    title: 'a deleted slice',
    existing: [old, slice('b', ['5'])],
    changes: { ...none, delete: [old] },
    counts: [0, 2, 1, 1, 1, 1],
  },
  {
    title: 'slices that could be fewer',
    existing: [old, slice('b', ['5']), slice('c', [], 81)],
    changes: none,
    counts: [0, 0, 0, 3, 3, 2],
  },
];

for (const { title, existing, changes, counts } of cases) {
  test(`countChanges() of ${title} (EPS-37, MIR-09)`, () => {
    const { added, removed, changedSlices, endpoints, slices, minSlices } = countChanges(
      existing,
      changes,
      3,
    );
    assert.deepEqual([added, removed, changedSlices, endpoints, slices, minSlices], counts);
  });
}

test('countChanges() counts changed, added and removed endpoints separately (MIR-09)', () => {
  const ready = { addresses: ['1'], conditions: { ready: true } };
  const now = { ...old, endpoints: [ready, { addresses: ['2'], conditions: {} }] };
  const { added, updated, removed } = countChanges([old], { ...none, update: [now] }, 3);
  assert.deepEqual([added, updated, removed], [0, 1, 0]);
});

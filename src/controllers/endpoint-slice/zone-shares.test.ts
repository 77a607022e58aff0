import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../kinds/node/types.ts';
import { exampleNode } from './example.ts';
import { isOverloaded, type ZoneShares, zoneQuotas, zoneShares } from './zone-shares.ts';

const a = exampleNode('a', { zone: 'za', cpu: '3' });
const b = exampleNode('b', { zone: 'zb', cpu: '1000m' });

const nodeCases: readonly {
  title: string;
  nodes: readonly Node[];
  shares: ZoneShares | undefined;
}[] = [
  { title: 'divides by CPUs', nodes: [a, b], shares: { za: 0.75, zb: 0.25 } },
  {
    title: 'adds nodes of one zone',
    nodes: [a, b, exampleNode('c', { zone: 'zb', cpu: '2' })],
    shares: { za: 0.5, zb: 0.5 },
  },
  { title: 'requires two zones', nodes: [a], shares: undefined },
  {
    title: 'requires a zone on every node',
    nodes: [a, b, exampleNode('c', { cpu: '1' })],
    shares: undefined,
  },
  {
    title: 'requires CPUs on every node',
    nodes: [a, b, exampleNode('c', { zone: 'zc' })],
    shares: undefined,
  },
  {
    title: 'ignores nodes that are not ready',
    nodes: [a, b, exampleNode('c', { ready: false })],
    shares: { za: 0.75, zb: 0.25 },
  },
  {
    title: 'ignores control-plane nodes',
    nodes: [
      a,
      b,
      exampleNode('c', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
      exampleNode('d', { labels: { 'node-role.kubernetes.io/master': '' } }),
    ],
    shares: { za: 0.75, zb: 0.25 },
  },
];

for (const { title, nodes, shares } of nodeCases) {
  test(`zoneShares() ${title} (EPS-32, EPS-33)`, () => assert.deepEqual(zoneShares(nodes), shares));
}

test('zoneQuotas() leaves each zone at most a fifth short (EPS-32)', () => {
  assert.deepEqual(zoneQuotas({ za: 0.75, zb: 0.25 }, 12), {
    quotas: new Map([
      ['za', { minimum: 8, wanted: 9, maximum: 9 }],
      ['zb', { minimum: 3, wanted: 3, maximum: 4 }],
    ]),
  });
});

test('zoneQuotas() is exact for parts of CPUs (EPS-32)', () => {
  const shares = zoneShares([
    exampleNode('x', { zone: 'za', cpu: '300m' }),
    exampleNode('y', { zone: 'zb', cpu: '600m' }),
  ]);
  const division = zoneQuotas(shares, 18);
  assert.ok('quotas' in division);
  // A third of 18 is 6, and 6 / 1.2 is 5, not a little more.
  assert.equal(division.quotas.get('za')?.minimum, 5);
});

const problems = [
  {
    shares: undefined,
    count: 5,
    problem:
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  },
  {
    shares: { za: 0.4, zb: 0.3, zc: 0.3 },
    count: 2,
    problem: 'Insufficient number of endpoints (2 endpoints, 3 zones)',
  },
  {
    shares: { za: 0.34, zb: 0.33, zc: 0.33 },
    count: 4,
    problem:
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
  },
];

for (const { shares, count, problem } of problems) {
  test(`zoneQuotas() refuses: ${problem} (EPS-33)`, () => {
    assert.deepEqual(zoneQuotas(shares, count), { problem });
  });
}

test('isOverloaded() when a zone has too few, is missing, or zones are no longer known (EPS-32)', () => {
  const shares = { za: 0.5, zb: 0.5 };
  assert.equal(isOverloaded({ za: 5, zb: 5 }, shares), false);
  assert.equal(isOverloaded({ za: 8, zb: 2 }, shares), true);
  assert.equal(isOverloaded({ za: 5, zb: 5 }, { ...shares, zc: 0.1 }), true);
  assert.equal(isOverloaded({ za: 5, zb: 5 }, undefined), true);
  assert.equal(isOverloaded({}, undefined), false);
});

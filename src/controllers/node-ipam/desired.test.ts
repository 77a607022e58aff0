import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import { type Assigner, createAssigner } from './desired.ts';
import { createNodeRanges } from './node-ranges.ts';

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
};
const node = (name: string, ...podCIDRs: readonly string[]): Pick<Node, 'metadata' | 'spec'> => ({
  metadata: { name },
  spec: podCIDRs.length === 0 ? {} : { podCIDRs },
});
const assigner = (
  clusterCidrs: string,
  more: { ipv4?: number; services?: string } = {},
): Assigner =>
  createAssigner({
    clusterCidrs: clusterCidrs.split(',').map(cidr),
    maskSizes: { IPv4: more.ipv4 ?? 24, IPv6: 64 },
    serviceCidrs: more.services === undefined ? [] : more.services.split(',').map(cidr),
  });
const gets = (podCIDRs: string): object => ({ kind: 'write', podCIDRs: podCIDRs.split(',') });
const none = { kind: 'none' };

test('assign() allocates one unique range of each family', () => {
  const { assign } = assigner('10.244.0.0/16,fd44::/48');
  assert.deepEqual(assign(node('a')), gets('10.244.0.0/24,fd44::/64'));
  assert.deepEqual(assign(node('b')), gets('10.244.1.0/24,fd44:0:0:1::/64'));
});

test('assign() returns the same ranges until the node shows them', () => {
  const { assign } = assigner('10.244.0.0/16');
  assert.deepEqual(assign(node('a')), gets('10.244.0.0/24'));
  assert.deepEqual(assign(node('a')), gets('10.244.0.0/24'));
  assert.deepEqual(assign(node('a', '10.244.0.0/24')), none);
  assert.deepEqual(assign(node('b')), gets('10.244.1.0/24'));
});

test('assign() does not allocate ranges that nodes have', () => {
  const { assign } = assigner('10.244.0.0/22');
  assert.deepEqual(assign(node('old', '10.244.1.0/24')), none);
  assert.deepEqual(assign(node('a')), gets('10.244.0.0/24'));
  assert.deepEqual(assign(node('b')), gets('10.244.2.0/24'));
});

test('assign() occupies every node range that a range of another size overlaps', () => {
  const { assign } = assigner('10.244.0.0/21');
  assign(node('wide', '10.244.0.0/22'));
  assign(node('narrow', '10.244.4.128/25'));
  assert.deepEqual(assign(node('a')), gets('10.244.5.0/24'));
});

test('assign() releases the previous ranges of a node whose ranges changed', () => {
  const { assign } = assigner('10.244.0.0/23');
  assign(node('a'));
  assert.deepEqual(assign(node('a', '10.244.1.0/24')), none);
  assert.deepEqual(assign(node('b')), gets('10.244.0.0/24'));
});

test('assign() reports an exhausted range, allocates nothing of the other family, and forget() releases ranges', () => {
  const { assign, forget, ranges } = assigner('fd44::/48,10.244.0.0/24');
  assert.deepEqual(assign(node('a')), gets('fd44::/64,10.244.0.0/24'));
  assert.deepEqual(assign(node('b')), { kind: 'exhausted', clusterCidr: '10.244.0.0/24' });
  assert.deepEqual(
    ranges.map((one) => one.usedCount()),
    [1, 1],
  );
  assert.equal(forget('a'), true);
  assert.equal(forget('a'), false);
  assert.deepEqual(assign(node('b')), gets('fd44:0:0:2::/64,10.244.0.0/24'));
});

test('assign() never allocates Service ranges', () => {
  const { assign } = assigner('10.244.0.0/22', { services: '10.244.0.0/23,10.96.0.0/16' });
  assert.deepEqual(assign(node('a')), gets('10.244.2.0/24'));
});

test('assign() reports ranges outside of the cluster ranges once', () => {
  const { assign } = assigner('10.244.0.0/24');
  const outside = node('a', '10.9.0.0/24');
  assert.deepEqual(assign(outside), { kind: 'outside', podCIDRs: ['10.9.0.0/24'] });
  assert.deepEqual(assign(outside), none);
  assert.deepEqual(assign(node('b')), gets('10.244.0.0/24'));
});

test('a range of two nodes is free when both are deleted', () => {
  const { assign, forget } = assigner('10.244.0.0/24');
  assign(node('a', '10.244.0.0/24'));
  assign(node('b', '10.244.0.0/24'));
  forget('a');
  assert.equal(assign(node('c')).kind, 'exhausted');
  forget('b');
  assert.deepEqual(assign(node('c')), gets('10.244.0.0/24'));
});

test('allocate() reuses released ranges last', () => {
  const ranges = createNodeRanges(cidr('10.0.0.0/22'), 24);
  const first = ranges.allocate();
  assert.ok(first);
  ranges.release(first);
  const bases = [1, 2, 3, 4].map(() => ranges.allocate()?.base);
  assert.deepEqual(
    bases.map((base) => (base ?? 0n) - first.base),
    [256n, 512n, 768n, 0n],
  );
  assert.equal(ranges.allocate(), undefined);
});

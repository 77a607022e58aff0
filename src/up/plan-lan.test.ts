import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, formatCidr, parseCidr } from '../ip/cidr.ts';
import { planLan } from './plan-lan.ts';

const cidrs = (...texts: readonly string[]): readonly Cidr[] =>
  texts.flatMap((text) => parseCidr(text) ?? []);

const both = ['IPv4', 'IPv6'] as const;

test('planLan() assigns addresses of both families to the LAN, nodes and load balancers', () => {
  const { ranges, ...plan } = planLan({ nodeCount: 2, usedRanges: [], families: both });
  assert.deepEqual(ranges.map(formatCidr), ['172.30.0.0/16', 'fd30::/64']);
  assert.deepEqual(plan, {
    gateways: ['172.30.0.1', 'fd30::1'],
    nodes: [
      { name: 'node-1', addresses: ['172.30.0.2', 'fd30::2'] },
      { name: 'node-2', addresses: ['172.30.0.3', 'fd30::3'] },
    ],
    balancerRanges: ['172.30.128.0/26', 'fd30::8000/122'],
    internalBalancerRanges: ['172.30.128.64/26', 'fd30::8040/122'],
  });
});

const choices = [
  {
    name: 'skips ranges that this machine has routes to',
    usedRanges: cidrs('172.30.4.0/24', '172.16.0.0/12'),
    range: '10.230.0.0/16',
  },
  {
    name: 'ignores default routes',
    usedRanges: cidrs('0.0.0.0/0'),
    range: '172.30.0.0/16',
  },
  {
    name: 'falls back to the first candidate when all are in use',
    usedRanges: cidrs('172.16.0.0/12', '10.0.0.0/8', '192.168.0.0/16'),
    range: '172.30.0.0/16',
  },
];

for (const { name, usedRanges, range } of choices) {
  test(`planLan() ${name}`, () => {
    const { ranges } = planLan({ nodeCount: 1, usedRanges, families: ['IPv4'] });
    assert.deepEqual(ranges.map(formatCidr), [range]);
  });
}

test('planLan() uses the requested ranges of the families that the machine supports', () => {
  const options = { nodeCount: 1, usedRanges: [], ranges: cidrs('192.168.7.0/24', 'fd07::/64') };
  const { gateways, balancerRanges } = planLan({ ...options, families: ['IPv4'] });
  assert.deepEqual([gateways, balancerRanges], [['192.168.7.1'], ['192.168.7.128/26']]);
});

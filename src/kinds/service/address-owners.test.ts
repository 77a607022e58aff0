import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../node/types.ts';
import { createOwnerLookup, makeOwners } from './address-owners.ts';

const node = (name: string, address: string, podCIDR: string): Node =>
  ({
    metadata: { name },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: {
      addresses: [
        { type: 'Hostname', address: '203.0.113.200' },
        { type: 'InternalIP', address },
      ],
    },
  }) as unknown as Node;

const owners = makeOwners({
  family: 'IPv4',
  nodeName: 'a',
  nodes: [node('a', '10.20.0.1', '10.244.1.0/24'), node('b', '10.20.0.2', '10.244.2.0/24')],
  interfaceAddresses: ['10.20.0.1', '192.0.2.1', '10.244.1.1', 'fe80::1'],
  serviceRanges: ['10.96.0.0/16'],
  clusterCIDRs: ['10.245.0.0/16', 'fd00::/64'],
});
const ownerOf = createOwnerLookup(owners, (ip) =>
  ip === '198.51.100.9' ? 'it is an endpoint of default/web' : undefined,
);

const cases: readonly (readonly [string, string | undefined])[] = [
  ['203.0.113.1', undefined],
  ['203.0.113.200', undefined],
  ['10.96.3.4', 'it lies in the range 10.96.0.0/16 of cluster IPs'],
  ['10.20.0.1', 'it is an address of node a'],
  ['010.020.0.001', 'it is an address of node a'],
  ['10.20.0.2', 'it is an address of node b'],
  ['192.0.2.1', 'it is an address of node a'],
  ['10.244.1.1', 'it is an address of node a'],
  ['10.244.2.9', 'it lies in the range 10.244.2.0/24 of pods'],
  ['10.245.9.9', 'it lies in the range 10.245.0.0/16 of pods'],
  ['198.51.100.9', 'it is an endpoint of default/web'],
  ['169.254.169.254', 'it may be the metadata service of a cloud'],
  ['169.254.1.1', 'it may be the metadata service of a cloud'],
  ['fd00:ec2::254', 'it may be the metadata service of a cloud'],
  ['100.100.100.200', 'it may be the metadata service of a cloud'],
  ['not an address', undefined],
];

for (const [ip, why] of cases) {
  test(`createOwnerLookup() finds the owner of ${ip}`, () => {
    assert.equal(ownerOf(ip), why);
  });
}

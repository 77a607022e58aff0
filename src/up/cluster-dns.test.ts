import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../ip/cidr.ts';
import { clusterDnsAddresses, clusterDnsService, clusterDnsSlice } from './cluster-dns.ts';

const ranges = ['10.96.0.0/16', 'fd00:96::/108'].flatMap((text) => parseCidr(text) ?? []);

test('the Service of DNS has the tenth address of each service range', () => {
  assert.deepEqual(clusterDnsAddresses(ranges), ['10.96.0.10', 'fd00:96::a']);
  const { spec } = clusterDnsService(ranges) as { spec: Record<string, unknown> };
  assert.deepEqual(spec.clusterIPs, ['10.96.0.10', 'fd00:96::a']);
  assert.equal(spec.ipFamilyPolicy, 'RequireDualStack');
});

test('its slice leads to where the server listens, whatever port that is', () => {
  const slice = clusterDnsSlice({ host: 'fd30::1', port: 1053 }) as Record<string, unknown>;
  assert.equal(slice.addressType, 'IPv6');
  assert.deepEqual(slice.ports, [
    { name: 'dns', port: 1053, protocol: 'UDP' },
    { name: 'dns-tcp', port: 1053, protocol: 'TCP' },
  ]);
});

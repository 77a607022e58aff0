import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  buildResolverConfig,
  parseResolverConfig,
  type ResolverConfig,
  renderResolverConfig,
} from './resolver-config.ts';

const host: ResolverConfig = {
  nameservers: ['192.0.2.53'],
  searches: ['example.org'],
  options: ['timeout:1'],
};
const cluster = { nameservers: ['10.96.0.10'], domain: 'cluster.local' };
const form = (spec: Parameters<typeof buildResolverConfig>[0], dns = cluster) =>
  buildResolverConfig(spec, 'shop', { host, cluster: dns });
const text = (spec: Parameters<typeof buildResolverConfig>[0]): string =>
  renderResolverConfig(form(spec).config);

const clusterText = `search shop.svc.cluster.local svc.cluster.local cluster.local example.org
nameserver 10.96.0.10
options ndots:5
`;
const hostText = `search example.org
nameserver 192.0.2.53
options timeout:1
`;

describe('buildResolverConfig()', () => {
  test("puts the cluster's search domains first (DNS-36)", () => {
    assert.equal(text({ dnsPolicy: 'ClusterFirst' }), clusterText);
  });
  test("uses the host's configuration on the host's network (DNS-37)", () => {
    assert.equal(text({ dnsPolicy: 'ClusterFirst', hostNetwork: true }), hostText);
    assert.equal(text({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }), clusterText);
    assert.equal(text({ dnsPolicy: 'Default' }), hostText);
  });
  test('uses only dnsConfig with policy None (DNS-37)', () => {
    const dnsConfig = {
      nameservers: ['9.9.9.9'],
      searches: ['a.b'],
      options: [{ name: 'rotate' }],
    };
    assert.equal(
      text({ dnsPolicy: 'None', dnsConfig }),
      'search a.b\nnameserver 9.9.9.9\noptions rotate\n',
    );
  });
  test('merges dnsConfig without duplicates, and prefers its options (DNS-38)', () => {
    const dnsConfig = {
      nameservers: ['10.96.0.10', '9.9.9.9'],
      searches: ['example.org', 'more.example'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    };
    const { config } = form({ dnsPolicy: 'ClusterFirst', dnsConfig });
    assert.deepEqual(config.nameservers, ['10.96.0.10', '9.9.9.9']);
    assert.deepEqual(config.searches.slice(3), ['example.org', 'more.example']);
    assert.deepEqual(config.options, ['ndots:2', 'edns0']);
  });
  test('omits entries beyond the limits of resolvers, with a warning (DNS-39)', () => {
    const dnsConfig = {
      nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'],
      searches: Array.from({ length: 40 }, (_, n) => `s${n}.example`),
    };
    const { config, warnings } = form({ dnsPolicy: 'ClusterFirst', dnsConfig });
    assert.deepEqual(config.nameservers, ['10.96.0.10', '1.1.1.1', '2.2.2.2']);
    assert.equal(config.searches.length, 32);
    assert.deepEqual(
      warnings.map(({ reason }) => reason),
      ['DNSConfigForming', 'DNSConfigForming'],
    );
  });
  test('limits the search list to 2048 characters (DNS-38)', () => {
    const searches = Array.from({ length: 20 }, (_, n) => `${'x'.repeat(150)}${n}`);
    const { config } = form({
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], searches },
    });
    assert.ok(config.searches.join(' ').length <= 2048);
    assert.equal(config.searches.length, 13);
  });
  test("falls back to the host's configuration if the cluster has no DNS (DNS-39)", () => {
    const { config, warnings } = form(
      { dnsPolicy: 'ClusterFirst' },
      { nameservers: [], domain: 'cluster.local' },
    );
    assert.deepEqual(config, host);
    assert.equal(warnings[0]?.reason, 'MissingClusterDNS');
  });
});

test('parseResolverConfig() reads a file with comments', () => {
  const found = parseResolverConfig(
    '# made by hand\nnameserver 1.1.1.1\ndomain old.example\nsearch a.example. b.example ; note\nnameserver 2.2.2.2\noptions ndots:2 rotate\n',
  );
  assert.deepEqual(found, {
    nameservers: ['1.1.1.1', '2.2.2.2'],
    searches: ['a.example', 'b.example'],
    options: ['ndots:2', 'rotate'],
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formResolverConfig,
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
const form = (spec: Parameters<typeof formResolverConfig>[0], dns = cluster) =>
  formResolverConfig(spec, 'shop', { host, cluster: dns });
const text = (spec: Parameters<typeof formResolverConfig>[0]): string =>
  renderResolverConfig(form(spec).config);

const ofCluster = `search shop.svc.cluster.local svc.cluster.local cluster.local example.org
nameserver 10.96.0.10
options ndots:5
`;
const ofHost = `search example.org
nameserver 192.0.2.53
options timeout:1
`;

describe('formResolverConfig()', () => {
  test('gives the cluster its names first (DNS-36)', () => {
    assert.equal(text({ dnsPolicy: 'ClusterFirst' }), ofCluster);
  });
  test("gives a pod on the host's network the host's names (DNS-37)", () => {
    assert.equal(text({ dnsPolicy: 'ClusterFirst', hostNetwork: true }), ofHost);
    assert.equal(text({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }), ofCluster);
    assert.equal(text({ dnsPolicy: 'Default' }), ofHost);
  });
  test('takes nothing but what the pod says with policy None (DNS-37)', () => {
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
  test("adds the pod's wishes, without repeating, and lets its options win (DNS-38)", () => {
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
  test('leaves out what resolvers would not read, and says so (DNS-39)', () => {
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
  test('keeps the search list within 2048 characters (DNS-38)', () => {
    const searches = Array.from({ length: 20 }, (_, n) => `${'x'.repeat(150)}${n}`);
    const { config } = form({
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], searches },
    });
    assert.ok(config.searches.join(' ').length <= 2048);
    assert.equal(config.searches.length, 13);
  });
  test("falls back to the host's names where the cluster has no name service (DNS-39)", () => {
    const { config, warnings } = form(
      { dnsPolicy: 'ClusterFirst' },
      { nameservers: [], domain: 'cluster.local' },
    );
    assert.deepEqual(config, host);
    assert.equal(warnings[0]?.reason, 'MissingClusterDNS');
  });
});

test('parseResolverConfig() reads what a host has, comments and all', () => {
  const found = parseResolverConfig(
    '# made by hand\nnameserver 1.1.1.1\ndomain old.example\nsearch a.example. b.example ; note\nnameserver 2.2.2.2\noptions ndots:2 rotate\n',
  );
  assert.deepEqual(found, {
    nameservers: ['1.1.1.1', '2.2.2.2'],
    searches: ['a.example', 'b.example'],
    options: ['ndots:2', 'rotate'],
  });
});

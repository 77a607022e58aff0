import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../kinds/pod/pod-spec.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { extendHosts, renderHosts } from './hosts-file.ts';
import { podHostname } from './pod-hostname.ts';

const pod = (spec: Partial<PodSpec>, name = 'web-0'): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop' },
    spec,
    status: {},
  }) as Pod;
const names = (spec: Partial<PodSpec>, name?: string) =>
  podHostname(pod(spec, name), 'cluster.local');

test("podHostname() is the pod's name, truncated to a label", () => {
  assert.deepEqual(names({}), { kernelName: 'web-0', hostname: 'web-0' });
  assert.equal(names({}, `${'a'.repeat(62)}.b`).hostname, 'a'.repeat(62));
});

test('podHostname() has an FQDN with a subdomain (DNS-41)', () => {
  assert.deepEqual(names({ hostname: 'h', subdomain: 'sub' }), {
    kernelName: 'h',
    hostname: 'h',
    fullName: 'h.sub.shop.svc.cluster.local',
  });
});

test('podHostname() uses the FQDN with setHostnameAsFQDN, if it is short enough (DNS-41)', () => {
  const spec = { subdomain: 'sub', setHostnameAsFQDN: true };
  assert.equal(names(spec).kernelName, 'web-0.sub.shop.svc.cluster.local');
  assert.throws(() => names(spec, 'x'.repeat(50)), /too long \(64 characters is the max/);
});

test('podHostname() is hostnameOverride, without an FQDN (DNS-41)', () => {
  const override = { hostnameOverride: 'any.name', subdomain: 'sub' };
  assert.deepEqual(names(override), { kernelName: 'any.name', hostname: 'any.name' });
});

test("podHostname() of a pod on the node's network is the node's name, truncated to the limit of Linux", () => {
  const onNode = { hostNetwork: true, hostname: 'h', nodeName: 'node-1' };
  assert.deepEqual(names(onNode), { kernelName: 'node-1', hostname: 'node-1' });
  const long = `${'n'.repeat(63)}.example`;
  assert.equal(names({ ...onNode, nodeName: long }).kernelName, 'n'.repeat(63));
});

test('renderHosts() has loopback, every address of the pod and its aliases (DNS-41)', () => {
  const text = renderHosts({
    podIPs: ['10.244.1.7', 'fd44::7'],
    hostname: 'h',
    fullName: 'h.sub.shop.svc.cluster.local',
    hostAliases: [{ ip: '203.0.113.1', hostnames: ['a', 'b'] }],
  });
  const lines = text.split('\n');
  assert.ok(lines.includes('127.0.0.1\tlocalhost'));
  assert.ok(lines.includes('10.244.1.7\th.sub.shop.svc.cluster.local\th'));
  assert.ok(lines.includes('fd44::7\th.sub.shop.svc.cluster.local\th'));
  assert.ok(lines.includes('203.0.113.1\ta\tb'));
});

test("extendHosts() keeps the host's file as it is", () => {
  assert.match(extendHosts('127.0.0.1 me\n'), /^#.*\n127\.0\.0\.1 me\n$/);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../kinds/config-map/types.ts';
import { examplePod } from '../kinds/pod/example.ts';
import { exampleService } from '../kinds/service/example.ts';
import { clusterSettings } from './cluster-settings.ts';
import { indexSnapshot } from './index-snapshot.ts';
import { isRead, makeSnapshot, type SnapshotObjects } from './snapshot.ts';
import { trimObject } from './trim-object.ts';

const indexOf = (objects: Partial<SnapshotObjects>) => indexSnapshot(makeSnapshot({ objects }));
const names = (all: readonly { readonly metadata: { readonly name?: string } }[]) =>
  all.map(({ metadata }) => metadata.name);

describe('indexSnapshot()', () => {
  const index = indexOf({
    services: [
      exampleService({
        metadata: { name: 'six', namespace: 'a' },
        spec: { clusterIP: 'fd00:96:0::1', clusterIPs: ['fd00:96:0::1'], selector: { app: 'six' } },
      }),
      exampleService({
        metadata: { name: 'shared', namespace: 'a' },
        spec: { externalIPs: ['198.51.100.1'], selector: { app: 'six', tier: 'front' } },
      }),
    ],
    pods: [
      examplePod({
        metadata: { name: 'one', namespace: 'a', labels: { app: 'six', tier: 'front' } },
        spec: { nodeName: 'n1' },
        status: { podIP: '10.244.1.9', podIPs: [{ ip: '10.244.1.9' }, { ip: 'fd44::0:9' }] },
      }),
      examplePod({ metadata: { name: 'other', namespace: 'b', labels: { app: 'six' } } }),
    ],
  });
  it('finds Services by any spelling of any of their addresses', () => {
    assert.deepEqual(names(index.servicesAt('fd00:96::1')), ['six']);
    assert.deepEqual(names(index.servicesAt('198.51.100.1')), ['shared']);
    assert.deepEqual(names(index.servicesAt('198.51.100.2')), []);
  });
  it('finds pods by label, address and node, in their namespace only', () => {
    assert.deepEqual(names(index.podsWith('a', { app: 'six' })), ['one']);
    assert.deepEqual(names(index.podsWith('a', { app: 'six', tier: 'back' })), []);
    assert.deepEqual(names(index.podsWith('a', {})), []);
    assert.deepEqual(names(index.podsAt('fd44::9')), ['one']);
    assert.deepEqual(names(index.podsOn('n1')), ['one']);
  });
  it('finds the Services that select a pod', () => {
    assert.deepEqual(index.selecting('a', { app: 'six', tier: 'front' }), ['six', 'shared']);
    assert.deepEqual(index.selecting('b', { app: 'six' }), []);
  });
});

describe('isRead()', () => {
  const snapshot = makeSnapshot({
    unread: [
      { kind: 'pods', namespace: 'a', reason: 'forbidden', message: 'pods is forbidden' },
      { kind: 'nodes', reason: 'forbidden', message: 'nodes is forbidden' },
    ],
  });
  it('is false where the list was refused', () => {
    assert.equal(isRead(snapshot, 'pods', 'a'), false);
    assert.equal(isRead(snapshot, 'pods'), false);
    assert.equal(isRead(snapshot, 'nodes', 'a'), false);
  });
  it('is true elsewhere', () => {
    assert.equal(isRead(snapshot, 'pods', 'b'), true);
    assert.equal(isRead(snapshot, 'services'), true);
  });
});

describe('clusterSettings()', () => {
  const config = (name: string, data: Readonly<Record<string, string>>): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'kube-system' },
    data,
  });
  const index = indexOf({
    services: [
      exampleService({
        metadata: { name: 'kube-dns', namespace: 'kube-system' },
        spec: { clusterIP: '10.96.0.10', clusterIPs: ['10.96.0.10'] },
      }),
    ],
    configMaps: [
      config('coredns', {
        Corefile: '.:53 {\n    errors\n    kubernetes east.example in-addr.arpa {\n    }\n}\n',
      }),
      config('kube-proxy', {
        'config.conf':
          'kind: KubeProxyConfiguration\nmode: ""\nclusterCIDR: 10.244.0.0/16,fd44::/56\n',
      }),
    ],
  });
  it('reads what installers leave, and names the object', () => {
    assert.deepEqual(clusterSettings(index), {
      domain: { value: 'east.example', source: 'configmap kube-system/coredns' },
      dnsAddresses: { value: ['10.96.0.10'], source: 'service kube-system/kube-dns' },
      podRanges: {
        value: ['10.244.0.0/16', 'fd44::/56'],
        source: 'configmap kube-system/kube-proxy',
      },
      proxyMode: { value: 'iptables', source: 'configmap kube-system/kube-proxy' },
      nodePortAddresses: { value: [], source: 'default' },
    });
  });
  it('prefers flags', () => {
    const { domain, proxyMode } = clusterSettings(index, {
      clusterDomain: 'west.example',
      proxyMode: 'ipvs',
    });
    assert.deepEqual(domain, { value: 'west.example', source: 'flag' });
    assert.deepEqual(proxyMode, { value: 'ipvs', source: 'flag' });
  });
  it('falls back to defaults, also where a configuration is not readable', () => {
    const broken = indexOf({ configMaps: [config('kube-proxy', { 'config.conf': ': [' })] });
    assert.deepEqual(clusterSettings(broken).domain, { value: 'cluster.local', source: 'default' });
    assert.equal(clusterSettings(broken).proxyMode.source, 'default');
  });
});

describe('trimObject()', () => {
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', own: 'x' };
  const metadata = { name: 'one', annotations: applied, managedFields: [] };
  it('drops managed fields, and what was applied except for Services', () => {
    assert.deepEqual(trimObject('pods', examplePod({ metadata })).metadata.annotations, {
      own: 'x',
    });
    const service = trimObject('services', exampleService({ metadata }));
    assert.deepEqual(service.metadata.annotations, applied);
    assert.equal('managedFields' in service.metadata, false);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../kinds/service/types.ts';
import { serviceVariables } from './service-variables.ts';

type Spec = Partial<Service['spec']>;

const service = (namespace: string, name: string, spec: Spec): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { type: 'ClusterIP', ...spec },
    status: {},
  }) as Service;

const redis = service('default', 'redis-master', {
  clusterIP: '10.0.0.11',
  ports: [{ port: 6379, protocol: 'TCP', targetPort: 6379 }],
});
const kubernetes = service('default', 'kubernetes', {
  clusterIP: '10.96.0.1',
  ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
});
const names = (variables: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(variables).sort();

test('serviceVariables() matches the documentation for redis-master (ENV-01, ENV-05)', () => {
  const options = { namespace: 'default', hasServiceLinks: true, services: [redis] };
  assert.deepEqual(serviceVariables(options), {
    REDIS_MASTER_SERVICE_HOST: '10.0.0.11',
    REDIS_MASTER_SERVICE_PORT: '6379',
    REDIS_MASTER_PORT: 'tcp://10.0.0.11:6379',
    REDIS_MASTER_PORT_6379_TCP: 'tcp://10.0.0.11:6379',
    REDIS_MASTER_PORT_6379_TCP_PROTO: 'tcp',
    REDIS_MASTER_PORT_6379_TCP_PORT: '6379',
    REDIS_MASTER_PORT_6379_TCP_ADDR: '10.0.0.11',
  });
});

test('serviceVariables() names ports, and brackets IPv6 in URLs only (ENV-02, ENV-04, ENV-06)', () => {
  const dual = service('a', '1-web', {
    clusterIP: 'fd00::1',
    ports: [
      { name: 'http', port: 80, protocol: 'TCP', targetPort: 80 },
      { name: 'dns-udp', port: 53, protocol: 'UDP', targetPort: 53 },
    ],
  });
  const found = serviceVariables({ namespace: 'a', hasServiceLinks: true, services: [dual] });
  assert.equal(found['1_WEB_SERVICE_HOST'], 'fd00::1');
  assert.equal(found['1_WEB_SERVICE_PORT'], '80');
  assert.equal(found['1_WEB_SERVICE_PORT_DNS_UDP'], '53');
  assert.equal(found['1_WEB_PORT'], 'tcp://[fd00::1]:80');
  assert.equal(found['1_WEB_PORT_53_UDP'], 'udp://[fd00::1]:53');
  assert.equal(found['1_WEB_PORT_53_UDP_ADDR'], 'fd00::1');
});

test('serviceVariables() uses the first address and port of a dual-stack Service (ENV-03)', () => {
  const dual = service('a', 'web', {
    clusterIP: 'fd00::1',
    clusterIPs: ['fd00::1', '10.0.0.1'],
    ports: [
      { name: 'second', port: 8080, protocol: 'TCP', targetPort: 80 },
      { name: 'first', port: 80, protocol: 'TCP', targetPort: 80 },
    ],
  });
  const found = serviceVariables({ namespace: 'a', hasServiceLinks: true, services: [dual] });
  assert.deepEqual([found.WEB_SERVICE_HOST, found.WEB_SERVICE_PORT], ['fd00::1', '8080']);
  assert.ok(!Object.values(found).some((value) => value.includes('10.0.0.1')));
});

test('serviceVariables() omits headless and external Services (ENV-07)', () => {
  const services = [
    service('default', 'headless', { clusterIP: 'None', ports: redis.spec.ports ?? [] }),
    service('default', 'pending', { clusterIP: '' }),
    service('default', 'elsewhere', { type: 'ExternalName', externalName: 'example.org' }),
  ];
  assert.deepEqual(serviceVariables({ namespace: 'default', hasServiceLinks: true, services }), {});
});

test('serviceVariables() always has the API server, and no other Service of other namespaces (ENV-08, ENV-09)', () => {
  const services = [redis, kubernetes];
  const elsewhere = serviceVariables({ namespace: 'other', hasServiceLinks: true, services });
  assert.ok(names(elsewhere).every((name) => name.startsWith('KUBERNETES_')));
  assert.equal(elsewhere.KUBERNETES_SERVICE_PORT_HTTPS, '443');
  const unlinked = serviceVariables({ namespace: 'default', hasServiceLinks: false, services });
  assert.deepEqual(names(unlinked), names(elsewhere));
});

test('serviceVariables() prefers a Service kubernetes of the own namespace when service links are enabled (ENV-08)', () => {
  const own = service('other', 'kubernetes', { clusterIP: '10.96.7.7', ports: [] });
  const services = [kubernetes, own];
  const linked = serviceVariables({ namespace: 'other', hasServiceLinks: true, services });
  assert.equal(linked.KUBERNETES_SERVICE_HOST, '10.96.7.7');
  const unlinked = serviceVariables({ namespace: 'other', hasServiceLinks: false, services });
  assert.equal(unlinked.KUBERNETES_SERVICE_HOST, '10.96.0.1');
});

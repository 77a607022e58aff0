import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePort, exampleService, sentService } from './example.ts';
import { completeCreate, completeUpdate } from './keep-allocated.ts';
import type { ServiceSpec } from './types.ts';

test('completeCreate() sets clusterIPs from clusterIP, not the reverse (API-40)', () => {
  const singular = completeCreate(sentService({ clusterIP: '10.96.0.9' }));
  assert.deepEqual(singular.spec.clusterIPs, ['10.96.0.9']);
  const plural = completeCreate(sentService({ clusterIPs: ['10.96.0.9'] }));
  assert.equal(plural.spec.clusterIP, undefined);
});

type Addresses = Pick<ServiceSpec, 'clusterIP' | 'clusterIPs'>;

const addresses: readonly [string, Addresses, Addresses][] = [
  [
    'keeps both when both are left out (API-47)',
    {},
    { clusterIP: '10.96.0.20', clusterIPs: ['10.96.0.20'] },
  ],
  [
    'keeps clusterIPs when only clusterIP is sent',
    { clusterIP: '10.96.0.20' },
    { clusterIP: '10.96.0.20', clusterIPs: ['10.96.0.20'] },
  ],
  [
    'keeps clusterIP when only clusterIPs is sent',
    { clusterIPs: ['10.96.0.21'] },
    { clusterIP: '10.96.0.20', clusterIPs: ['10.96.0.21'] },
  ],
  [
    'lets the plural follow a changed singular',
    { clusterIP: '10.96.0.22', clusterIPs: ['10.96.0.20'] },
    { clusterIP: '10.96.0.22', clusterIPs: ['10.96.0.22'] },
  ],
];

for (const [name, given, wanted] of addresses) {
  test(`completeUpdate() ${name}`, () => {
    const { clusterIP, clusterIPs } = completeUpdate(exampleService(), sentService(given)).spec;
    assert.deepEqual({ clusterIP, clusterIPs }, wanted);
  });
}

const nodePorts = (before: ServiceSpec, after: ServiceSpec) =>
  completeUpdate(exampleService({ spec: before }), sentService(after)).spec.ports?.map(
    (port) => port.nodePort,
  );
const two = [
  examplePort({ name: 'a', port: 80, nodePort: 30001 }),
  examplePort({ name: 'b', port: 81, nodePort: 30002 }),
];

test('completeUpdate() keeps node ports by port name (API-48)', () => {
  const swapped = [examplePort({ name: 'b', port: 8081 }), examplePort({ name: 'a', port: 8080 })];
  const before: ServiceSpec = { type: 'NodePort', ports: two };
  assert.deepEqual(nodePorts(before, { type: 'NodePort', ports: swapped }), [30002, 30001]);
});

test('completeUpdate() does not keep a number that another port specifies (API-48)', () => {
  const taken = [examplePort({ name: 'a' }), examplePort({ name: 'c', nodePort: 30001 })];
  const before: ServiceSpec = { type: 'NodePort', ports: two };
  assert.deepEqual(nodePorts(before, { type: 'NodePort', ports: taken }), [undefined, 30001]);
});

test('completeUpdate() keeps no node ports when the type has none', () => {
  const before: ServiceSpec = { type: 'LoadBalancer', ports: two };
  const after: ServiceSpec = {
    type: 'LoadBalancer',
    allocateLoadBalancerNodePorts: false,
    ports: [examplePort({ name: 'a' })],
  };
  assert.deepEqual(nodePorts(before, after), [undefined]);
});

test('completeUpdate() keeps the health check port while it is needed (API-49)', () => {
  const local: ServiceSpec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const before = exampleService({ spec: { ...local, healthCheckNodePort: 30100 } });
  const port = (spec: ServiceSpec) =>
    completeUpdate(before, sentService(spec)).spec.healthCheckNodePort;
  assert.equal(port(local), 30100);
  assert.equal(port({ ...local, externalTrafficPolicy: 'Cluster' }), undefined);
});

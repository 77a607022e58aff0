import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodePortsHeld, planAddresses, planNodePorts } from './allocation.ts';
import { examplePort, exampleService, sentService } from './example.ts';
import type { ServicePort, ServiceSpec } from './types.ts';

const both: ServiceSpec = {
  clusterIPs: ['10.96.0.20', 'fd00::20'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'PreferDualStack',
};
const externalName = sentService({ type: 'ExternalName', externalName: 'x.example.com' });
const headless = exampleService({ spec: { clusterIP: 'None', clusterIPs: ['None'] } });

test('planAddresses() allocates one address of each family, specified ones as specified (IPA-02, IPA-08)', () => {
  const after = sentService({ ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.96.0.7'] });
  assert.deepEqual(planAddresses(undefined, after), {
    take: [
      { index: 0, family: 'IPv4', address: '10.96.0.7' },
      { index: 1, family: 'IPv6' },
    ],
    giveBack: [],
  });
});

test('planAddresses() allocates nothing for headless and ExternalName Services', () => {
  assert.deepEqual(planAddresses(undefined, headless).take, []);
  assert.deepEqual(planAddresses(undefined, externalName).take, []);
  assert.deepEqual(planAddresses(externalName, headless).take, []);
});

test('planAddresses() allocates the second address of a Service that becomes dual stack', () => {
  const after = exampleService({ spec: { ...both, clusterIPs: ['10.96.0.20'] } });
  const plan = { take: [{ index: 1, family: 'IPv6' }], giveBack: [] };
  assert.deepEqual(planAddresses(exampleService(), after), plan);
});

test('planAddresses() allocates the second address also when the first changes to None', () => {
  const after = exampleService({
    spec: { ...both, clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' } },
  });
  const plan = { take: [{ index: 1, family: 'IPv6' }], giveBack: [] };
  assert.deepEqual(planAddresses(exampleService(), after), plan);
  assert.deepEqual(planAddresses(headless, after), { take: [], giveBack: [] });
});

test('planAddresses() releases addresses that a Service no longer has (IPA-27)', () => {
  const before = exampleService({ spec: both });
  assert.deepEqual(planAddresses(before, exampleService()).giveBack, ['fd00::20']);
  assert.deepEqual(planAddresses(before, externalName).giveBack, ['10.96.0.20', 'fd00::20']);
  assert.deepEqual(planAddresses(headless, externalName).giveBack, []);
});

test('planAddresses() does not allocate an address for an immutable field', () => {
  const after = exampleService({ spec: { clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] } });
  assert.deepEqual(planAddresses(exampleService(), after), { take: [], giveBack: [] });
});

const nodePort = (ports: readonly ServicePort[], spec: ServiceSpec = {}) =>
  exampleService({ spec: { type: 'NodePort', ports, ...spec } });

const creates: readonly [string, readonly ServicePort[], unknown][] = [
  [
    'any number for each port',
    [examplePort(), examplePort({ port: 81 })],
    [
      { index: 0, nodePort: 'any' },
      { index: 1, nodePort: 'any' },
    ],
  ],
  [
    'one number for both protocols of a port',
    [examplePort(), examplePort({ protocol: 'UDP' })],
    [
      { index: 0, nodePort: 'any' },
      { index: 1, sameAs: 0 },
    ],
  ],
  [
    'the number that either protocol names',
    [examplePort(), examplePort({ protocol: 'UDP', nodePort: 30001 })],
    [{ index: 0, nodePort: 30001 }],
  ],
  [
    'different numbers where they are named',
    [examplePort({ nodePort: 30001 }), examplePort({ protocol: 'UDP', nodePort: 30002 })],
    [
      { index: 0, nodePort: 30001 },
      { index: 1, nodePort: 30002 },
    ],
  ],
];

for (const [name, ports, wanted] of creates) {
  test(`planNodePorts() allocates ${name} (NPT-08)`, () => {
    assert.deepEqual(planNodePorts(undefined, nodePort(ports)).ports, wanted);
  });
}

test('planNodePorts() allocates only specified numbers when allocation is disabled (NPT-09)', () => {
  const ports = [examplePort(), examplePort({ port: 81, nodePort: 30001 })];
  const after = nodePort(ports, { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
  assert.deepEqual(planNodePorts(undefined, after).ports, [{ index: 1, nodePort: 30001 }]);
});

test('planNodePorts() does not allocate what the Service has', () => {
  const before = nodePort([examplePort({ nodePort: 30001 })]);
  const after = nodePort([
    examplePort({ nodePort: 30001 }),
    examplePort({ protocol: 'UDP' }),
    examplePort({ port: 81, nodePort: 30002 }),
  ]);
  assert.deepEqual(planNodePorts(before, after).ports, [
    { index: 1, nodePort: 'any' },
    { index: 2, nodePort: 30002 },
  ]);
});

test('planNodePorts() allocates the number of its own health check like any other (NPT-11)', () => {
  const spec: ServiceSpec = {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30100,
  };
  const before = nodePort([examplePort({ nodePort: 30001 })], spec);
  const after = nodePort([examplePort({ nodePort: 30100 })], spec);
  assert.deepEqual(planNodePorts(before, after).ports, [{ index: 0, nodePort: 30100 }]);
});

test('planNodePorts() and nodePortsHeld() keep existing node ports when allocation is disabled later (NPT-10)', () => {
  const ports = [examplePort({ nodePort: 30001 }), examplePort({ port: 81 })];
  const before = nodePort(ports, { type: 'LoadBalancer', allocateLoadBalancerNodePorts: true });
  const after = nodePort(ports, { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
  assert.deepEqual(planNodePorts(before, after).ports, []);
  assert.deepEqual(nodePortsHeld(after), [30001]);
});

test('planNodePorts() allocates a health check port when the policy changes to Local (NPT-11)', () => {
  const cluster: ServiceSpec = { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' };
  const local: ServiceSpec = { ...cluster, externalTrafficPolicy: 'Local' };
  const plan = (before: ServiceSpec, after: ServiceSpec) =>
    planNodePorts(exampleService({ spec: before }), exampleService({ spec: after })).healthCheck;
  assert.equal(plan(cluster, local), 'any');
  assert.equal(plan(cluster, { ...local, healthCheckNodePort: 30100 }), 30100);
  assert.equal(plan({ ...local, healthCheckNodePort: 30100 }, local), undefined);
});

test('nodePortsHeld() counts only numbers that the type uses', () => {
  const ports = [examplePort({ nodePort: 30001 }), examplePort({ nodePort: 30001 })];
  assert.deepEqual(nodePortsHeld(nodePort(ports, { healthCheckNodePort: 30100 })), [30001]);
  assert.deepEqual(nodePortsHeld(nodePort(ports, { type: 'ExternalName' })), []);
});

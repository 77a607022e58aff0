import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePort, exampleService } from './example.ts';
import { prepareCreate, prepareStatusUpdate, prepareUpdate } from './prepare.ts';
import { type Service, type ServiceSpec, type SpecChanges, withSpec } from './types.ts';

const balancer = exampleService({
  spec: {
    type: 'LoadBalancer',
    ports: [examplePort({ nodePort: 30001 })],
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30100,
    allocateLoadBalancerNodePorts: true,
    loadBalancerClass: 'example.com/x',
    loadBalancerSourceRanges: ['10.0.0.0/8'],
  },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } },
});

const changed = (before: Service, changes: SpecChanges): Service =>
  prepareUpdate(before, withSpec(before, changes));

test('prepareCreate() starts with an empty status', () => {
  assert.deepEqual(prepareCreate(balancer).status, { loadBalancer: {} });
});

test('prepareUpdate() clears fields of load balancers, except source ranges (API-25, API-54, API-55, API-56, API-57)', () => {
  const after = changed(balancer, { type: 'ClusterIP' });
  const { ports, ...rest } = exampleService().spec;
  assert.deepEqual(after.spec, { ...rest, ports, loadBalancerSourceRanges: ['10.0.0.0/8'] });
  assert.deepEqual(after.status, { loadBalancer: {} });
});

test('prepareUpdate() leaves fields that the client changed for validation to reject (API-54, API-56)', () => {
  const changes: ServiceSpec = {
    type: 'ClusterIP',
    ports: [examplePort({ nodePort: 30002 })],
    externalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 30101,
    allocateLoadBalancerNodePorts: false,
    loadBalancerClass: 'example.com/y',
  };
  const { spec } = changed(balancer, changes);
  assert.deepEqual({ ...spec, ...changes }, spec);
});

test('prepareUpdate() keeps node ports between NodePort and LoadBalancer', () => {
  assert.equal(changed(balancer, { type: 'NodePort' }).spec.ports?.[0]?.nodePort, 30001);
});

test('prepareUpdate() clears addresses and traffic policy of a Service that becomes ExternalName (API-52)', () => {
  const { spec } = changed(exampleService(), {
    type: 'ExternalName',
    externalName: 'x.example.com',
  });
  assert.deepEqual(spec, {
    ports: [examplePort()],
    type: 'ExternalName',
    sessionAffinity: 'None',
    externalName: 'x.example.com',
  });
});

test('prepareUpdate() clears the external policy with the last external IP (API-57)', () => {
  const spec: ServiceSpec = { externalIPs: ['198.51.100.1'], externalTrafficPolicy: 'Cluster' };
  const after = changed(exampleService({ spec }), { externalIPs: undefined });
  assert.equal(after.spec.externalTrafficPolicy, undefined);
});

test('prepareUpdate() keeps the previous status (API-59)', () => {
  const sent = { ...balancer, status: { loadBalancer: {} } };
  assert.deepEqual(prepareUpdate(balancer, sent).status, balancer.status);
});

test('prepareStatusUpdate() keeps the previous spec (API-59)', () => {
  const after = exampleService({ spec: { type: 'NodePort' }, status: balancer.status });
  const prepared = prepareStatusUpdate(balancer, after);
  assert.deepEqual(prepared.spec, balancer.spec);
  assert.deepEqual(prepared.status, balancer.status);
});

test('prepareCreate() keeps an unknown traffic policy of ExternalName for validation', () => {
  const spec = { type: 'ExternalName', internalTrafficPolicy: 'Node' } as unknown as ServiceSpec;
  assert.equal(prepareCreate(exampleService({ spec })).spec.internalTrafficPolicy, 'Node');
});

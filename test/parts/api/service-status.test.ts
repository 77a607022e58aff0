// The status of Services: who may write what, and what it may be.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ServiceStatus } from '../../../src/kinds/service/types.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import {
  causes,
  type Sent,
  serviceRequests,
  services,
  warnings,
} from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { have, patch, read } = serviceRequests(() => running.api);

const ports = [{ port: 80 }];
const balancer = { type: 'LoadBalancer', ports };
const vip = { ip: '192.0.2.1', ipMode: 'VIP' };
const field = 'status.loadBalancer.ingress';

const withIngress = (ingress: readonly Sent[]): Sent => ({ status: { loadBalancer: { ingress } } });
const statusOf = async (name: string): Promise<ServiceStatus> => (await read(name)).status;

test('only a load balancer has an ingress, but each type may have conditions (STA-01, STA-05)', async () => {
  const condition = {
    type: 'LoadBalancerPortsError',
    status: 'True',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'Mixed',
    message: '',
  };
  for (const type of ['ClusterIP', 'NodePort']) {
    const name = await have({ type, ports });
    assert.deepEqual(causes(await patch(`${name}/status`, withIngress([{ ip: 'x' }]))), [
      `Forbidden ${field}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
    ]);
    await patch(`${name}/status`, { status: { conditions: [condition] } });
    assert.deepEqual(await statusOf(name), { loadBalancer: {}, conditions: [condition] });
  }
});

const subdomainForm =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test('an ingress that is none is refused, each fault at its place (STA-02, STA-03)', async () => {
  const name = await have(balancer);
  const ingress = [
    { ip: 'lb', hostname: '192.0.2.1' },
    { hostname: 'LB', ipMode: 'VIP' },
    { ip: '192.0.2.1', ipMode: '' },
    { ip: '192.0.2.01' },
    { hostname: '2001:db8::1' },
    {},
  ];
  assert.deepEqual(causes(await patch(`${name}/status`, withIngress(ingress))), [
    `Invalid ${field}[0].ip: Invalid value: "lb": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
    `Invalid ${field}[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address`,
    `Forbidden ${field}[1].ipMode: Forbidden: may not be specified when \`ip\` is not set`,
    `Invalid ${field}[1].hostname: Invalid value: "LB": ${subdomainForm}`,
    `NotSupported ${field}[2].ipMode: Unsupported value: "": supported values: "Proxy", "VIP"`,
    `Invalid ${field}[3].ip: Invalid value: "192.0.2.01": must not have leading 0s`,
    `Invalid ${field}[4].hostname: Invalid value: "2001:db8::1": ${subdomainForm}`,
    `Invalid ${field}[4].hostname: Invalid value: "2001:db8::1": must be a DNS name, not an IP address`,
  ]);
  assert.deepEqual(await statusOf(name), { loadBalancer: {} });
});

test('addresses get mode VIP, names none, and ports keep their errors (STA-03, STA-04)', async () => {
  const name = await have(balancer);
  const errors = [
    { port: 80, protocol: 'TCP' },
    { port: 53, protocol: 'UDP', error: 'NotSupported' },
  ];
  const ingress = [{ ip: '192.0.2.1', ports: errors }, { hostname: 'lb.example.com' }];
  const { body } = await patch(`${name}/status`, withIngress(ingress));
  assert.deepEqual(body.status.loadBalancer.ingress, [
    { ...vip, ports: errors },
    { hostname: 'lb.example.com' },
  ]);
});

test('the mode VIP comes only where the body says it is a load balancer (STA-03)', async () => {
  const name = await have(balancer);
  const wrong = { spec: { type: 'NodePort' }, ...withIngress([{ ip: '192.0.2.1' }]) };
  assert.deepEqual(causes(await patch(`${name}/status`, wrong)), [
    `Required ${field}[0].ipMode: Required value: must be specified when \`ip\` is set`,
  ]);
});

test('an odd address of an ingress is warned of (API-66)', async () => {
  const name = await have(balancer);
  assert.deepEqual(warnings(await patch(`${name}/status`, withIngress([{ ip: '2001:DB8::1' }]))), [
    `${field}[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
  ]);
});

test('conditions join by their type (STA-05)', async () => {
  const name = await have(balancer);
  const condition = (type: string, status: string): Sent => ({
    type,
    status,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'R',
    message: '',
  });
  const write = (list: readonly Sent[]) =>
    patch(`${name}/status`, { status: { conditions: list } }, 'strategic');
  await write([condition('A', 'True')]);
  await write([condition('B', 'True')]);
  await write([condition('A', 'False')]);
  const { conditions = [] } = await statusOf(name);
  assert.deepEqual(conditions.map(({ type, status }) => `${type} ${status}`).sort(), [
    'A False',
    'B True',
  ]);
});

test('a status that is there already changes no version (STA-06)', async () => {
  const name = await have(balancer);
  await patch(`${name}/status`, withIngress([{ ip: '192.0.2.1' }]));
  const { resourceVersion } = (await read(name)).metadata;
  // Without the mode that the server fills in, and with it.
  for (const entry of [{ ip: '192.0.2.1' }, vip]) {
    const { body } = await patch(`${name}/status`, withIngress([entry]));
    assert.equal(body.metadata.resourceVersion, resourceVersion);
  }
});

test('the status is read, replaced and patched in four ways, but neither made nor deleted (STA-07)', async () => {
  const name = await have(balancer);
  const path = `${services}/${name}/status`;
  const at = `${name}/status`;
  const ips = async (): Promise<readonly unknown[]> => {
    const { status } = await running.api.get<{ status: ServiceStatus }>(path);
    return (status.loadBalancer.ingress ?? []).map(({ ip }) => ip);
  };
  const stored = await read(name);
  await running.api.put(path, { ...stored, ...withIngress([{ ip: '192.0.2.1' }]) });
  assert.deepEqual(await ips(), ['192.0.2.1']);
  const add = { op: 'add', path: '/status/loadBalancer/ingress/-', value: { ip: '192.0.2.2' } };
  await patch(at, [add], 'json');
  assert.deepEqual(await ips(), ['192.0.2.1', '192.0.2.2']);
  await patch(at, withIngress([{ ip: '192.0.2.3' }]), 'merge');
  assert.deepEqual(await ips(), ['192.0.2.3']);
  await patch(at, withIngress([{ ip: '192.0.2.4' }]), 'strategic');
  assert.deepEqual(await ips(), ['192.0.2.4']);
  const applied = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    ...withIngress([{ ip: '192.0.2.5' }]),
  };
  await patch(`${at}?fieldManager=cloud&force=true`, applied, 'apply');
  assert.deepEqual(await ips(), ['192.0.2.5']);
  const owner = (await read(name)).metadata.managedFields?.find(
    ({ manager }) => manager === 'cloud',
  );
  assert.equal(owner?.subresource, 'status');
  for (const method of ['POST', 'DELETE']) {
    assert.equal((await running.api.send({ method, path, body: {} })).status, 405, method);
  }
});

test('writes of the service ignore the status, in each way to write (API-59)', async () => {
  const name = await have(balancer);
  const wanted = await statusOf(name);
  const sent = withIngress([vip]);
  await running.api.put(`${services}/${name}`, { ...(await read(name)), ...sent });
  await patch(name, sent, 'merge');
  await patch(name, sent, 'strategic');
  await patch(name, [{ op: 'add', path: '/status/loadBalancer/ingress', value: [vip] }], 'json');
  const applied = { apiVersion: 'v1', kind: 'Service', metadata: { name }, ...sent };
  assert.equal((await patch(`${name}?fieldManager=a`, applied, 'apply')).status, 200);
  assert.deepEqual(await statusOf(name), wanted);
});

test('writes of the status ignore the spec, but not labels, annotations and finalizers (API-59)', async () => {
  const name = await have(balancer);
  const { spec } = await read(name);
  const metadata = {
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
  };
  await patch(`${name}/status`, { metadata, spec: { ports: null, type: 'Foo' } });
  const after = await read(name);
  assert.deepEqual(after.spec, spec);
  const { labels, annotations, finalizers } = after.metadata;
  assert.deepEqual({ labels, annotations, finalizers }, metadata);
});

test('bad labels are refused with the status too (API-59)', async () => {
  const name = await have(balancer);
  const [wrong = ''] = causes(
    await patch(`${name}/status`, { metadata: { labels: { a: 'b c' } } }),
  );
  assert.match(wrong, /^Invalid metadata.labels: Invalid value: "b c": a valid label must be/);
});

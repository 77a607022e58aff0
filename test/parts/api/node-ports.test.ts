// Node ports as a client sees them: bands, requests on create and update, health checks, and what becomes free again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import { assertExact, readAllocations } from '../harness/allocation-checks.ts';
import type { Answer } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const services = '/api/v1/namespaces/default/services';
const mergePatch = { 'content-type': 'application/merge-patch+json' };

let running: MemoryServer;
before(async () => {
  // 64 ports: 16 of the lower band, 48 of the upper.
  running = await startMemoryServer({ nodePorts: '30000-30063' });
});
after(() => running.stop());

type Spec = Readonly<Record<string, unknown>>;
type Given = Answer<Service & Status>;

const create = (name: string, spec: Spec, query = ''): Promise<Given> =>
  running.api.send({
    method: 'POST',
    path: `${services}${query}`,
    body: { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }], ...spec } },
  });
const patch = (name: string, spec: Spec, query = ''): Promise<Given> =>
  running.api.send({
    method: 'PATCH',
    path: `${services}/${name}${query}`,
    body: { spec },
    headers: mergePatch,
  });

const portsOf = ({ body }: Given): readonly (number | undefined)[] =>
  body.spec?.ports?.map(({ nodePort }) => nodePort) ?? [];

const outcome = (answer: Given): string =>
  `${answer.status} ${answer.body.message ?? portsOf(answer).map((port) => port ?? '-')}`;

async function removeAll(): Promise<void> {
  await assertExact(running.store);
  await running.api.delete(`${services}?labelSelector=!provider`);
  assert.equal((await readAllocations(running.store)).ports.size, 0);
}

const from = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => first + i);
const ascending = (answers: readonly Given[]): readonly (number | undefined)[] =>
  answers.flatMap(portsOf).sort((a, b) => Number(a) - Number(b));

test('any port comes from the upper band, then from the lower, until none is left (NPT-02, NPT-03, NPT-06)', async () => {
  const upper = await Promise.all(from(0, 48).map((i) => create(`upper-${i}`, {})));
  assert.deepEqual(ascending(upper), from(30016, 48));
  const lower: Given[] = [];
  for (const i of from(0, 16)) lower.push(await create(`lower-${i}`, {}));
  assert.deepEqual(ascending(lower), from(30000, 16));
  assert.equal(
    outcome(await create('more', {})),
    '500 Internal error occurred: failed to allocate a nodePort: range is full',
  );
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  assert.equal(
    outcome(await create('more', { ...local, allocateLoadBalancerNodePorts: false })),
    '500 Internal error occurred: failed to allocate a HealthCheck NodePort 0: range is full',
  );
  await running.api.delete(`${services}/lower-3`);
  assert.deepEqual(portsOf(await create('more', {})), portsOf(lower[3] as Given));
  await removeAll();
});

const refusal = (index: number, port: number, why: string): string =>
  `422 Service "s" is invalid: spec.ports[${index}].nodePort: Invalid value: ${port}: provided port ${why}`;
const outside = 'is not in the valid range. The range of valid ports is 30000-30063';
const taken = 'is already allocated';
const named = (port: number, nodePort?: number, protocol = 'TCP') => ({
  name: `${protocol.toLowerCase()}-${port}`,
  port,
  protocol,
  ...(nodePort === undefined ? {} : { nodePort }),
});

const requests: readonly [string, readonly object[], string][] = [
  ['a port of the lower band (NPT-01)', [named(80, 30000)], '201 30000'],
  ['the last port (NPT-01)', [named(80, 30063)], '201 30063'],
  ['a port below (NPT-04)', [named(80, 29999)], refusal(0, 29999, outside)],
  ['a port above (NPT-04)', [named(80, 30000), named(81, 30064)], refusal(1, 30064, outside)],
  ['a taken port (NPT-05)', [named(80, 30001), named(81, 30007)], refusal(1, 30007, taken)],
  [
    'a port taken for another protocol (NPT-07)',
    [named(80, 30007, 'UDP')],
    refusal(0, 30007, taken),
  ],
  ['a port twice (NPT-05)', [named(80, 30001), named(81, 30001)], refusal(1, 30001, taken)],
  [
    'a port twice, for other numbers of other protocols (NPT-07)',
    [named(80, 30001), named(81, 30001, 'UDP')],
    refusal(1, 30001, taken),
  ],
  [
    'one port for the protocols of a number (NPT-08)',
    [named(53, 30001), named(53, undefined, 'UDP'), named(53, 30001, 'SCTP')],
    '201 30001,30001,30001',
  ],
  [
    'a port that a later protocol names (NPT-08)',
    [named(53), named(53, 30002, 'UDP')],
    '201 30002,30002',
  ],
  [
    'a port that a later protocol names and cannot have (NPT-08)',
    [named(53), named(53, 30007, 'UDP')],
    refusal(0, 30007, taken),
  ],
  [
    'different ports for the protocols of a number (NPT-08)',
    [named(53, 30002), named(53, 30003, 'UDP')],
    '201 30002,30003',
  ],
];

for (const [what, ports, wanted] of requests) {
  test(`a new service asks for ${what}`, async () => {
    await create('other', { ports: [named(80, 30007)] });
    assert.equal(outcome(await create('s', { ports })), wanted);
    await removeAll();
  });
}

test('protocols of one number share any port on create, and not when one comes later (NPT-08)', async () => {
  const both = await create('s', { ports: [named(53), named(53, undefined, 'UDP')] });
  const [tcp, udp] = portsOf(both);
  assert.ok(tcp !== undefined && tcp === udp);
  const three = await patch('s', {
    ports: [named(53), named(53, undefined, 'UDP'), named(53, undefined, 'SCTP')],
  });
  assert.deepEqual(portsOf(three).slice(0, 2), [tcp, tcp]);
  assert.notEqual(portsOf(three)[2], tcp);
  await removeAll();
});

const changes: readonly [string, Spec, string][] = [
  ['another port (NPT-13)', { ports: [named(80, 30002)] }, '200 30002'],
  ['its own port (NPT-05)', { ports: [named(80, 30001), named(81, 30002)] }, '200 30001,30002'],
  ['a taken port (NPT-05)', { ports: [named(80, 30007)] }, refusal(0, 30007, taken)],
  ['a port outside (NPT-04)', { ports: [named(80, 80)] }, refusal(0, 80, outside)],
  [
    'one port for two protocols (NPT-07)',
    { ports: [named(80, 30001), named(81, 30001, 'UDP')] },
    '200 30001,30001',
  ],
  ['no port any more (NPT-13)', { type: 'ClusterIP' }, '200 -'],
];

for (const [what, spec, wanted] of changes) {
  test(`a service changes to ${what}`, async () => {
    await create('other', { ports: [named(80, 30007)] });
    await create('s', { ports: [named(80, 30001)] });
    assert.equal(outcome(await patch('s', spec)), wanted);
    await removeAll();
  });
}

test('a balancer without node ports gets those it names, and keeps what it has (NPT-09, NPT-10)', async () => {
  const off = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
  const ports = [named(80), named(81, 30001)];
  assert.equal(outcome(await create('s', { ...off, ports })), '201 -,30001');
  assert.match(
    outcome(await patch('s', { allocateLoadBalancerNodePorts: true })),
    /^200 30\d+,30001$/,
  );
  const [first] = portsOf(await patch('s', { allocateLoadBalancerNodePorts: false }));
  assert.ok(first !== undefined, 'switched off, it keeps its ports');
  assert.equal(
    outcome(await patch('s', { ports: [{ ...named(80), nodePort: null }, named(81, 30001)] })),
    '200 -,30001',
  );
  await removeAll();
});

test('a health check takes a port of the same range, and gives it back (NPT-11, NPT-12, NPT-13)', async () => {
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const refused = (port: number, why: string): string =>
    `422 Service "s" is invalid: spec.healthCheckNodePort: Invalid value: ${port}: provided port ${why}`;
  await create('other', { ports: [named(80, 30007)] });
  assert.equal(
    outcome(await create('s', { ...local, healthCheckNodePort: 30007 })),
    refused(30007, taken),
  );
  assert.equal(
    outcome(await create('s', { ...local, healthCheckNodePort: 80 })),
    refused(80, outside),
  );
  const ports = [named(80, 30003)];
  assert.equal(
    outcome(await create('s', { ...local, healthCheckNodePort: 30003, ports })),
    refused(30003, taken),
  );
  const made = await create('s', { ...local, healthCheckNodePort: 30004, ports });
  assert.deepEqual([made.status, made.body.spec.healthCheckNodePort], [201, 30004]);
  assert.equal(
    outcome(await create('t', { ports: [named(80, 30004)] })),
    refusal(0, 30004, taken).replace('"s"', '"t"'),
  );
  const cluster = await patch('s', { externalTrafficPolicy: 'Cluster' });
  assert.deepEqual([cluster.status, cluster.body.spec.healthCheckNodePort], [200, undefined]);
  const again = await patch('s', { externalTrafficPolicy: 'Local' });
  assert.ok(Number(again.body.spec.healthCheckNodePort) >= 30016, 'any port is of the upper band');
  await removeAll();
});

test('a dry run sees what is taken and not what is outside, and takes nothing (NPT-04, NPT-05)', async () => {
  const query = '?dryRun=All';
  await create('s', { ports: [named(80, 30001)] });
  assert.equal(outcome(await create('t', { ports: [named(80, 80)] }, query)), '201 80');
  assert.equal(
    outcome(await create('s', { ports: [named(80, 30001)] }, query)),
    refusal(0, 30001, taken),
  );
  assert.equal(
    outcome(await create('t', { ports: [named(80, 30002), named(81)] }, query)),
    '201 30002,30003',
  );
  assert.equal(outcome(await create('t', {}, query)), '201 32769');
  assert.equal(outcome(await patch('s', { ports: [named(80, 30002)] }, query)), '200 30002');
  await removeAll();
});

test('what is taken and refused is counted by who chose (NPT-17)', async () => {
  await create('s', { ports: [named(80, 30001)] });
  const { body } = await running.api.send<string>({ method: 'GET', path: '/metrics' });
  const value = (line: string): number =>
    Number(new RegExp(`^kube_apiserver_nodeport_allocator_${line} (\\d+)$`, 'm').exec(body)?.[1]);
  assert.deepEqual([value('allocated_ports'), value('available_ports')], [1, 63]);
  assert.ok(value('allocation_total\\{scope="dynamic"\\}') >= 64);
  assert.ok(value('allocation_total\\{scope="static"\\}') >= 10);
  assert.ok(value('allocation_errors_total\\{scope="dynamic"\\}') >= 2);
  assert.ok(value('allocation_errors_total\\{scope="static"\\}') >= 10);
  await removeAll();
});

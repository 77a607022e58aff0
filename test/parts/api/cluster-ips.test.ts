// Cluster IPs as a client sees them: bands, requests, ranges that come and go, and their IPAddress objects.
// No controller runs: what needs one is in ip-repair.test.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { IPAddress } from '../../../src/kinds/ip-address/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { ServiceCIDR } from '../../../src/kinds/service-cidr/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import { assertExact } from '../harness/allocation-checks.ts';
import type { Answer, ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const services = '/api/v1/namespaces/default/services';
const networking = '/apis/networking.k8s.io/v1';
const mergePatch = { 'content-type': 'application/merge-patch+json' };

let running: MemoryServer;
before(async () => {
  // 30 addresses: 16 of the lower band, of which the kubernetes Service has the first, and 14 of the upper.
  running = await startMemoryServer({ serviceCidrs: '10.96.0.0/27,fd00:96::/108' });
});
after(() => running.stop());

type Spec = Readonly<Record<string, unknown>>;

const create = (name: string, spec: Spec = {}, query = ''): Promise<Answer<Service & Status>> =>
  running.api.send({
    method: 'POST',
    path: `${services}${query}`,
    body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
  });

const patch = (path: string, body: unknown): Promise<Answer<Service & Status>> =>
  running.api.send({ method: 'PATCH', path, body, headers: mergePatch });

const outcome = ({ status, body }: Answer<Partial<Status & Service>>): string =>
  body.message === undefined ? `${status} ${body.spec?.clusterIPs}` : `${status} ${body.message}`;

const lastByte = ({ body }: Answer<Service>): number =>
  Number(body.spec.clusterIP?.split('.').at(-1));

async function removeServices(): Promise<void> {
  await running.api.delete(`${services}?labelSelector=!provider`);
}

const invalid = (name: string, addresses: readonly string[], why: string): string =>
  `422 Service "${name}" is invalid: spec.clusterIPs: Invalid value: ${JSON.stringify(addresses)}: ${why}`;
const mismatch = 'the provided network does not match the current range';

test('any address comes from the upper band, then from the lower, then from a new range (IPA-07, IPA-11, IPA-23, IPA-26)', async () => {
  const upper = await Promise.all(Array.from({ length: 14 }, (_, i) => create(`upper-${i}`)));
  assert.deepEqual(
    upper.map(lastByte).sort((a, b) => a - b),
    Array.from({ length: 14 }, (_, i) => 17 + i),
  );
  // One after the other: where hardly anything is left, those who come at once take it from each other.
  const lower: Answer<Service>[] = [];
  for (let i = 0; i < 15; i += 1) lower.push(await create(`lower-${i}`));
  assert.deepEqual(
    lower.map(lastByte).sort((a, b) => a - b),
    Array.from({ length: 15 }, (_, i) => 2 + i),
  );
  const full = '500 Internal error occurred: failed to allocate a serviceIP: range is full';
  assert.equal(outcome(await create('one-more')), full);
  await running.api.post(`${networking}/servicecidrs`, {
    metadata: { name: 'second' },
    spec: { cidrs: ['10.97.0.0/30'] },
  });
  const next = [await create('one-more'), await create('two-more')].map(outcome);
  assert.deepEqual(next.sort(), ['201 10.97.0.1', '201 10.97.0.2']);
  assert.equal(outcome(await create('three-more')), full);
  await assertExact(running.store);
  await removeServices();
});

const requests: readonly [string, Spec, string][] = [
  ['an address of the lower band (IPA-08)', { clusterIP: '10.96.0.5' }, '201 10.96.0.5'],
  ['an address of the upper band (IPA-08)', { clusterIP: '10.96.0.30' }, '201 10.96.0.30'],
  ['the last address of IPv6 (IPA-03)', { clusterIP: 'fd00:96::f:ffff' }, '201 fd00:96::f:ffff'],
  [
    'the broadcast address (IPA-03)',
    { clusterIP: '10.96.0.31' },
    invalid('s', ['10.96.0.31'], `failed to allocate IP 10.96.0.31: ${mismatch}`),
  ],
  [
    'the network address of IPv6 (IPA-03)',
    { clusterIP: 'fd00:96::' },
    invalid('s', ['fd00:96::'], `failed to allocate IP fd00:96::: ${mismatch}`),
  ],
  [
    'an address that is taken (IPA-09)',
    { clusterIP: '10.96.0.1' },
    invalid(
      's',
      ['10.96.0.1'],
      'failed to allocate IP 10.96.0.1: provided IP is already allocated',
    ),
  ],
  [
    'an address that is taken and nothing else that is right (IPA-09)',
    { clusterIP: '10.96.0.1', sessionAffinity: 'Bogus', ports: [{ port: 70000 }] },
    invalid(
      's',
      ['10.96.0.1'],
      'failed to allocate IP 10.96.0.1: provided IP is already allocated',
    ),
  ],
  [
    'an address outside (IPA-10)',
    { clusterIP: '10.1.2.3' },
    invalid('s', ['10.1.2.3'], `failed to allocate IP 10.1.2.3: ${mismatch}`),
  ],
  [
    'two addresses, the second outside (IPA-10)',
    {
      ipFamilyPolicy: 'RequireDualStack',
      clusterIP: '10.96.0.6',
      clusterIPs: ['10.96.0.6', 'fd01::1'],
    },
    invalid('s', ['10.96.0.6', 'fd01::1'], `failed to allocate IP fd01::1: ${mismatch}`),
  ],
  [
    'two addresses, IPv6 first (IPA-08)',
    {
      ipFamilyPolicy: 'PreferDualStack',
      clusterIP: 'fd00:96::7',
      clusterIPs: ['fd00:96::7', '10.96.0.7'],
    },
    '201 fd00:96::7,10.96.0.7',
  ],
];

for (const [what, spec, wanted] of requests) {
  test(`a service asks for ${what}`, async () => {
    assert.equal(outcome(await create('s', spec)), wanted);
    await assertExact(running.store);
    await removeServices();
  });
}

test('a hint beside the message names the ranges that an address is not in', async () => {
  const { status, headers } = await create('s', { clusterIP: '10.1.2.3' });
  assert.equal(status, 422);
  const text =
    'spec.clusterIPs: 10.1.2.3 is in none of the ranges of Services: 10.96.0.0/27, 10.97.0.0/30';
  assert.equal(headers['fairlead-hint'], text);
  assert.equal(headers.warning, undefined);
});

const dryRuns: readonly [string, Spec, string][] = [
  ['shows the network address for any', {}, '201 10.96.0.0'],
  [
    'shows both network addresses',
    { ipFamilyPolicy: 'RequireDualStack' },
    '201 10.96.0.0,fd00:96::',
  ],
  ['does not see that an address is taken', { clusterIP: '10.96.0.1' }, '201 10.96.0.1'],
  [
    'names the range of an address outside',
    { clusterIP: '10.1.2.3' },
    invalid(
      's',
      ['10.1.2.3'],
      'failed to allocate IP 10.1.2.3: the provided IP (10.1.2.3) is not in the valid range. The range of valid IPs is 10.96.0.0/27',
    ),
  ],
];

for (const [what, spec, wanted] of dryRuns) {
  test(`a dry run ${what} (IPA-09, IPA-10)`, async () => {
    assert.equal(outcome(await create('s', spec, '?dryRun=All')), wanted);
    await assertExact(running.store);
  });
}

test('an update takes a second address, keeps what it has, and gives back what it no longer has (IPA-13, IPA-27)', async () => {
  const path = `${services}/grows`;
  await create('grows', { clusterIP: '10.96.0.9' });
  await create('other', { clusterIP: 'fd00:96::9' });
  const taken = ['10.96.0.9', 'fd00:96::9'];
  const spec = { ipFamilyPolicy: 'PreferDualStack', clusterIPs: taken };
  assert.equal(
    outcome(await patch(path, { spec })),
    invalid('grows', taken, 'failed to allocate IP fd00:96::9: provided IP is already allocated'),
  );
  const free = ['10.96.0.9', 'fd00:96::a'];
  assert.equal(outcome(await patch(path, { spec: { ...spec, clusterIPs: free } })), `200 ${free}`);
  const { metadata, spec: parent } = await running.api.get<IPAddress>(
    `${networking}/ipaddresses/fd00:96::a`,
  );
  assert.deepEqual(metadata.labels, {
    'ipaddress.kubernetes.io/ip-family': 'IPv6',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  });
  assert.deepEqual(parent, {
    parentRef: { resource: 'services', namespace: 'default', name: 'grows' },
  });
  assert.equal(
    outcome(await patch(path, { spec: { ipFamilyPolicy: 'SingleStack' } })),
    '200 10.96.0.9',
  );
  await assertExact(running.store);
  const external = { type: 'ExternalName', externalName: 'a.example' };
  assert.equal(outcome(await patch(path, { spec: external })), '200 undefined');
  await assertExact(running.store);
  assert.equal(
    outcome(await patch(path, { spec: { type: 'ClusterIP', clusterIP: '10.96.0.11' } })),
    '200 10.96.0.11',
  );
  await assertExact(running.store);
  await removeServices();
});

test('an address with an IPAddress of another client is not allocated (IPA-02, IPA-14)', async () => {
  const path = `${networking}/ipaddresses`;
  const parentRef = { group: 'example.com', resource: 'things', name: 'x' };
  await running.api.post(path, { metadata: { name: '10.96.0.12' }, spec: { parentRef } });
  assert.equal(
    outcome(await create('s', { clusterIP: '10.96.0.12' })),
    invalid(
      's',
      ['10.96.0.12'],
      'failed to allocate IP 10.96.0.12: provided IP is already allocated',
    ),
  );
  await running.api.delete(`${path}/10.96.0.12`);
  assert.equal(outcome(await create('s', { clusterIP: '10.96.0.12' })), '201 10.96.0.12');
  await removeServices();
});

test('ranges may overlap; one that is not ready or going gives nothing, unless another has it (IPA-12, IPA-22, IPA-24)', async () => {
  const ranges = `${networking}/servicecidrs`;
  const make = (name: string, cidrs: readonly string[]): Promise<ServiceCIDR> =>
    running.api.post(ranges, {
      metadata: { name, finalizers: ['example.com/hold'] },
      spec: { cidrs },
    });
  const ask = async (clusterIP: string): Promise<number> =>
    (await create('s', { clusterIP })).status;
  await make('wide', ['10.98.0.0/16']);
  await make('narrow', ['10.98.1.0/24']);
  await make('twin', ['10.98.1.0/24']);
  assert.equal(await ask('10.98.1.0'), 201, 'the network address of one is any address of another');
  await removeServices();
  const notReady = {
    type: 'Ready',
    status: 'False',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'x',
    message: '',
  };
  await patch(`${ranges}/wide/status`, { status: { conditions: [notReady] } });
  assert.equal(await ask('10.98.1.0'), 422);
  assert.equal(await ask('10.98.1.7'), 201);
  await removeServices();
  await running.api.delete(`${ranges}/narrow`);
  assert.equal(await ask('10.98.1.7'), 201, 'its twin has it');
  await removeServices();
  await running.api.delete(`${ranges}/twin`);
  assert.equal(await ask('10.98.1.7'), 422);
  for (const name of ['wide', 'narrow', 'twin']) {
    await patch(`${ranges}/${name}`, { metadata: { finalizers: null } });
  }
  await running.api.delete(`${ranges}/wide`);
});

test('a status write of a ServiceCIDR changes its status and nothing else, and no other write does (IPA-17)', async () => {
  const path = `${networking}/servicecidrs/third`;
  const ready = {
    type: 'Ready',
    status: 'False',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'x',
    message: 'y',
  };
  const status = { conditions: [ready] };
  const made = await running.api.post<ServiceCIDR>(`${networking}/servicecidrs`, {
    metadata: { name: 'third', labels: { a: 'b' } },
    spec: { cidrs: ['10.99.0.0/24'] },
    status,
  });
  assert.deepEqual(made.status, {});
  const metadata = { labels: { c: 'd' }, annotations: { e: 'f' }, finalizers: ['g/h'] };
  const written = await running.api.patch<ServiceCIDR>(`${path}/status`, {
    metadata,
    spec: { cidrs: ['10.100.0.0/24'] },
    status,
  });
  const { labels, annotations, finalizers } = written.metadata;
  assert.deepEqual(
    { labels, annotations, finalizers },
    { labels: { a: 'b' }, annotations: undefined, finalizers: undefined },
  );
  assert.deepEqual([written.spec, written.status], [{ cidrs: ['10.99.0.0/24'] }, status]);
  const kept = await running.api.patch<ServiceCIDR>(path, {
    metadata: { labels: { c: 'd' } },
    status: { conditions: [] },
  });
  assert.deepEqual([kept.metadata.labels, kept.status], [{ a: 'b', c: 'd' }, status]);
  await running.api.delete(path);
});

test('a name of an IPAddress is never completed by letters (IPA-15)', async () => {
  const path = `${networking}/ipaddresses`;
  const spec = { parentRef: { resource: 'services', namespace: 'default', name: 'x' } };
  const send = (generateName: string): Promise<Answer<IPAddress & Status>> =>
    running.api.send({ method: 'POST', path, body: { metadata: { generateName }, spec } });
  const why = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  const refused = await send('10.9.0.');
  assert.equal(
    refused.body.message,
    `IPAddress.networking.k8s.io "10.9.0." is invalid: [metadata.generateName: Invalid value: "10.9.0.": ${why}, metadata.name: Invalid value: "10.9.0.": ${why}]`,
  );
  assert.equal((await send('10.9.0.1')).body.metadata.name, '10.9.0.1');
  assert.equal((await send('10.9.0.1')).status, 409);
  await running.api.delete(`${path}/10.9.0.1`);
});

test('IPAddresses and ServiceCIDRs are served as v1 alone, by their names (IPA-15, IPA-16, IPA-18, CNF-05)', async () => {
  type Resources = {
    resources: readonly { name: string; shortNames?: readonly string[]; namespaced: boolean }[];
  };
  const { resources } = await running.api.get<Resources>(networking);
  const own = resources.filter(({ name }) => /^(ipaddresses|servicecidrs)/.test(name));
  assert.deepEqual(
    own.map(({ name, namespaced, shortNames }) =>
      `${name} ${namespaced} ${shortNames ?? ''}`.trim(),
    ),
    ['ipaddresses false ip', 'servicecidrs false', 'servicecidrs/status false'],
  );
  const beta = await running.api.send({ method: 'GET', path: '/apis/networking.k8s.io/v1beta1' });
  assert.equal(beta.status, 404);
});

test('every verb works on IPAddresses and ServiceCIDRs (CNF-05)', async () => {
  const spec = { parentRef: { group: 'example.com', resource: 'things', name: 'x' } };
  const kinds: readonly [string, string, unknown][] = [
    ['ipaddresses', '192.0.2.7', spec],
    ['servicecidrs', 'fourth', { cidrs: ['192.0.2.0/24'] }],
  ];
  for (const [plural, name, given] of kinds) {
    const all = `${networking}/${plural}`;
    const watch = await running.api.watch(
      `${all}?watch=true&fieldSelector=metadata.name%3D${name}`,
    );
    const made = await running.api.post(all, {
      metadata: { name, labels: { test: 'yes' } },
      spec: given,
    });
    await running.api.put(`${all}/${name}`, {
      ...made,
      metadata: { ...made.metadata, annotations: { a: 'b' } },
    });
    await running.api.patch(`${all}/${name}`, { metadata: { annotations: { a: 'c' } } });
    const { items } = await running.api.get<ObjectList>(`${all}?labelSelector=test%3Dyes`);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [name],
    );
    await running.api.delete(`${all}?labelSelector=test%3Dyes`);
    await watch.until((events) => events.length === 4);
    watch.close();
    assert.deepEqual(
      watch.events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'],
    );
  }
});

test('what is taken and refused is counted by range and by who chose (IPA-34)', async () => {
  const { body } = await running.api.send<string>({ method: 'GET', path: '/metrics' });
  const value = (line: string): number =>
    Number(
      body
        .split('\n')
        .find((one) => one.startsWith(`kube_apiserver_clusterip_allocator_${line} `))
        ?.split(' ')
        .at(-1),
    );
  const cidr = 'cidr="10.96.0.0/27"';
  assert.equal(value(`allocated_ips{${cidr}}`), 1);
  assert.equal(value(`available_ips{${cidr}}`), 29);
  const dynamic = value(`allocation_total{${cidr},scope="dynamic"}`);
  assert.ok(dynamic >= 29, `${dynamic} addresses were found`);
  assert.ok(value(`allocation_total{${cidr},scope="static"}`) >= 5);
  assert.ok(value(`allocation_errors_total{${cidr},scope="static"}`) >= 3);
  assert.ok(value(`allocation_errors_total{${cidr},scope="dynamic"}`) >= 1);
  const all = dynamic + value(`allocation_total{${cidr},scope="static"}`);
  assert.equal(value(`allocation_duration_seconds_count{${cidr}}`), all);
});

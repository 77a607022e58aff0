// The tables that kubectl prints.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { Answer, ApiCall } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { serviceRequests, services } from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { have, patch } = serviceRequests(() => running.api);
const ported = { ports: [{ port: 80 }] };

const ask = <T>(path: string, more: Omit<Partial<ApiCall>, 'path'>): Promise<Answer<T>> =>
  running.api.send({ method: 'GET', path, ...more });

type Table = {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object?: KubeObject | null;
  }[];
};
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

/** Cells by the name of the object, without the age. */
async function cellsOf(path: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const { body } = await ask<Table>(path, { headers: asTable });
  const age = body.columnDefinitions.findIndex(({ name }) => name === 'Age');
  return Object.fromEntries(
    body.rows.map(({ cells }) => [String(cells[0]), cells.filter((_, at) => at > 0 && at !== age)]),
  );
}

test('tables come with the object, with its metadata or with none (KCT-10, KCT-11)', async () => {
  const one = async (query: string): Promise<Answer<Table>> =>
    ask(`${services}/kubernetes${query}`, { headers: asTable });
  const { body } = await one('');
  assert.deepEqual(
    body.columnDefinitions.map(({ name, priority }) => [name, priority]),
    [
      ['Name', 0],
      ['Type', 0],
      ['Cluster-IP', 0],
      ['External-IP', 0],
      ['Port(s)', 0],
      ['Age', 0],
      ['Selector', 1],
    ],
  );
  assert.equal(body.rows[0]?.object?.kind, 'PartialObjectMetadata');
  assert.equal(
    (await one('?includeObject=Metadata')).body.rows[0]?.object?.kind,
    'PartialObjectMetadata',
  );
  assert.equal((await one('?includeObject=Object')).body.rows[0]?.object?.kind, 'Service');
  assert.equal((await one('?includeObject=None')).body.rows[0]?.object, null);
  assert.equal((await one('?includeObject=Some')).status, 400);
});

test('the table of services shows addresses and ports as far as there are any (KCT-12, KCT-13)', async () => {
  await have(
    { ...ported, clusterIP: '10.96.112.1', externalIPs: ['198.51.100.1', '198.51.100.2'] },
    { name: 't-external' },
  );
  await have({ clusterIP: 'None', selector: { b: '2', a: '1' } }, { name: 't-headless' });
  await have({ type: 'ExternalName', externalName: 'db.example.com' }, { name: 't-named' });
  const ports = [
    { name: 'a', port: 80, nodePort: 30112 },
    { name: 'b', port: 53, protocol: 'UDP' },
  ];
  const balancer = {
    type: 'LoadBalancer',
    ports,
    clusterIP: '10.96.112.2',
    allocateLoadBalancerNodePorts: false,
  };
  await have(balancer, { name: 't-pending' });
  await have(
    { ...balancer, ports: [{ port: 80 }], clusterIP: '10.96.112.3' },
    { name: 't-balanced' },
  );
  const hostname = 'a-name-of-more-than-sixteen-letters.example.com';
  await patch('t-balanced/status', {
    status: {
      loadBalancer: {
        ingress: [{ hostname }, { ip: '9.9.9.9' }, { ip: '10.9.9.9', hostname }, { ip: '9.9.9.9' }],
      },
    },
  });
  const { kubernetes: _own, ...rows } = await cellsOf(services);
  const own = Object.fromEntries(Object.entries(rows).filter(([name]) => name.startsWith('t-')));
  assert.deepEqual(own, {
    't-external': ['ClusterIP', '10.96.112.1', '198.51.100.1,198.51.100.2', '80/TCP', '<none>'],
    't-headless': ['ClusterIP', 'None', '<none>', '<none>', 'a=1,b=2'],
    't-named': ['ExternalName', '<none>', 'db.example.com', '<none>', '<none>'],
    't-pending': ['LoadBalancer', '10.96.112.2', '<pending>', '80:30112/TCP,53/UDP', '<none>'],
    // The server's tables are always the wide ones: nothing is cut.
    't-balanced': [
      'LoadBalancer',
      '10.96.112.3',
      `10.9.9.9,9.9.9.9,${hostname}`,
      '80/TCP',
      '<none>',
    ],
  });
});

test('the tables of endpoints, slices, ranges and addresses show three and how many more (KCT-14)', async () => {
  const four = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  const endpoints = '/api/v1/namespaces/default/endpoints';
  await running.api.post(endpoints, {
    metadata: { name: 'four' },
    subsets: [{ addresses: four.map((ip) => ({ ip })), ports: [{ port: 80 }] }],
  });
  await running.api.post(endpoints, { metadata: { name: 'none' } });
  const ofEndpoints = await cellsOf(endpoints);
  assert.deepEqual(ofEndpoints.four, ['192.0.2.1:80,192.0.2.2:80,192.0.2.3:80 + 1 more...']);
  assert.deepEqual(ofEndpoints.none, ['<none>']);
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const ports = [{ port: 80 }, { name: 'b', port: 81 }, { name: 'c' }, { name: 'd', port: 83 }];
  await running.api.post(slices, {
    metadata: { name: 'four' },
    addressType: 'IPv4',
    endpoints: four.map((ip) => ({ addresses: [ip] })),
    ports,
  });
  await running.api.post(slices, {
    metadata: { name: 'none' },
    addressType: 'IPv6',
    endpoints: [],
  });
  const ofSlices = await cellsOf(slices);
  assert.deepEqual(ofSlices.four, [
    'IPv4',
    '80,81,c + 1 more...',
    '192.0.2.1,192.0.2.2,192.0.2.3 + 1 more...',
  ]);
  assert.deepEqual(ofSlices.none, ['IPv6', '<unset>', '<unset>']);
  const ofRanges = await cellsOf('/apis/networking.k8s.io/v1/servicecidrs');
  assert.deepEqual(ofRanges.kubernetes, ['10.96.0.0/16,fd00:96::/108']);
  const ofAddresses = await cellsOf('/apis/networking.k8s.io/v1/ipaddresses');
  assert.deepEqual(ofAddresses['10.96.0.1'], ['services/default/kubernetes']);
});

test('the table of a size shows what is wanted and what is there', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  await running.api.post(deployments, {
    metadata: { name: 'sized' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'sized' } },
      template: {
        metadata: { labels: { app: 'sized' } },
        spec: { containers: [{ name: 'c', image: 'process' }] },
      },
    },
  });
  const { body } = await ask<Table>(`${deployments}/sized/scale`, { headers: asTable });
  assert.deepEqual(
    body.columnDefinitions.map(({ name }) => name),
    ['Name', 'Desired', 'Available', 'Age'],
  );
  assert.deepEqual(body.rows[0]?.cells.slice(0, 3), ['sized', 3, 0]);
});

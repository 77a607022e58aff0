// Two replicas of the controllers for one API server, all as processes: one leads, and when it is killed the other
// takes over.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Lease } from '../../../src/kinds/lease/types.ts';
import { type CrashServer, makeCrashServer } from '../../crash/api-crash-server.ts';
import type { ApiClient } from '../harness/api-client.ts';
import {
  type ControllersProcess,
  startControllersProcess,
} from '../harness/controllers-process.ts';

/** Short for a fast test, long enough for a busy machine to renew in time. */
const election = [
  ...['--leader-elect-lease-duration', '5s', '--leader-elect-renew-deadline', '4s'],
  ...['--leader-elect-retry-period', '500ms'],
];
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const at = '/api/v1/namespaces/default';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?watch=true';
const status = 'leader_election_master_status{name="fairlead-controllers"}';

let server: CrashServer;
let api: ApiClient;
let copies: readonly ControllersProcess[] = [];
before(async () => {
  server = await makeCrashServer();
  api = await server.start();
  copies = await Promise.all([
    startControllersProcess(server.kubeconfig, election),
    startControllersProcess(server.kubeconfig, election),
  ]);
});
after(async () => {
  await Promise.all(copies.map(({ kill }) => kill()));
  api.close();
  await server.remove();
});

const pod = (name: string) => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
});
const ready = (ip: string) => ({
  status: { podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
});

async function startPod(name: string, ip: string): Promise<void> {
  await api.post(`${at}/pods`, pod(name));
  await api.patch(`${at}/pods/${name}/status`, ready(ip));
}

const holds =
  (ip: string) =>
  (events: readonly { readonly object: EndpointSlice }[]): boolean =>
    events.some(({ object }) => object.endpoints?.some(({ addresses }) => addresses?.includes(ip)));

const isLeader = async ({ readMetric }: ControllersProcess): Promise<boolean> =>
  (await readMetric(status)) === 1;

test('the standby takes over when the leader is killed', { timeout: 120_000 }, async () => {
  const watch = await api.watch<EndpointSlice>(slices);
  await api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
  await api.post(`${at}/services`, {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await startPod('p1', '10.1.0.1');
  await watch.until(holds('10.1.0.1'));

  const leads = await Promise.all(copies.map(isLeader));
  assert.deepEqual([...leads].sort(), [false, true]);
  const leader = copies[leads.indexOf(true)];
  const other = copies[leads.indexOf(false)];
  assert.ok(leader && other);
  const { spec: before } = await api.get<Lease>(`${leases}/fairlead-controllers`);
  assert.equal(before.holderIdentity, leader.ledAs());
  assert.equal(other.ledAs(), undefined);
  assert.equal(await other.readHealth(), 'ok');

  await leader.kill();
  await startPod('p2', '10.1.0.2');
  await watch.until(holds('10.1.0.2'));
  const { spec: now } = await api.get<Lease>(`${leases}/fairlead-controllers`);
  assert.notEqual(now.holderIdentity, before.holderIdentity);
  assert.equal(now.holderIdentity, other.ledAs());
  assert.equal(now.leaseTransitions, (before.leaseTransitions ?? 0) + 1);
  assert.equal(await isLeader(other), true);
  watch.close();
});

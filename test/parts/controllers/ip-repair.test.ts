// Inconsistent Services and IPAddresses, as crashes, people and other programs leave them: what is repaired, with which
// event and after which delay. Time stands still until a test advances it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clusterIpRepair } from '../../../src/controllers/cluster-ip-repair/run.ts';
import { serviceCidrController } from '../../../src/controllers/service-cidr/run.ts';
import type { IPAddress } from '../../../src/kinds/ip-address/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { ServiceCIDR } from '../../../src/kinds/service-cidr/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

const services = '/api/v1/namespaces/default/services';
const networking = '/apis/networking.k8s.io/v1';
const addresses = `${networking}/ipaddresses`;

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness({ controllers: [clusterIpRepair, serviceCidrController] });
});
after(() => harness.stop());

const make = (name: string, clusterIP: string): Promise<Service> =>
  harness.api.post(services, { metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } });

/** Without validation, as another program may write to the store. */
async function write(key: string, object: KubeObject): Promise<void> {
  const value = Buffer.from(JSON.stringify(object));
  await harness.server.store.transact({ compare: [], write: [{ put: `/registry/${key}`, value }] });
}

const labels = {
  'ipaddress.kubernetes.io/ip-family': 'IPv4',
  'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
};
const ofService = (name: string) => ({ resource: 'services', namespace: 'default', name });

const hold = (name: string, parentRef: object, given: object = labels): Promise<IPAddress> =>
  harness.api.post(addresses, { metadata: { name, labels: given }, spec: { parentRef } });

type RepairEvent = {
  readonly regarding: { readonly name: string };
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly action?: string;
  readonly reportingController: string;
};

const eventsOf = async (name: string): Promise<readonly string[]> =>
  (await harness.list<RepairEvent>('/apis/events.k8s.io/v1/events'))
    .filter(({ regarding }) => regarding.name === name)
    .map((e) => `${e.reportingController} ${e.type} ${e.action} ${e.reason}: ${e.note}`);

const parentOf = async (name: string): Promise<string | undefined> =>
  (await harness.api.send<IPAddress>({ method: 'GET', path: `${addresses}/${name}` })).body.spec
    ?.parentRef?.name;

const reporter = 'ipallocator-repair-controller Warning';

test('a missing IPAddress is created, with an event (IPA-28, IPA-29)', async () => {
  await make('lost', '10.96.1.1');
  await harness.api.delete(`${addresses}/10.96.1.1`);
  await harness.until(
    'the IPAddress is restored',
    async () => (await parentOf('10.96.1.1')) === 'lost',
  );
  assert.deepEqual(
    (await harness.api.get<IPAddress>(`${addresses}/10.96.1.1`)).metadata.labels,
    labels,
  );
  await harness.until('the event is recorded', async () => (await eventsOf('lost')).length === 1);
  assert.deepEqual(await eventsOf('lost'), [
    `${reporter} ClusterIPAllocation ClusterIPNotAllocated: Cluster IP [IPv4]: 10.96.1.1 is not allocated; repairing`,
  ]);
});

test('of two Services with one cluster IP the parent of the IPAddress keeps it (IPA-29, IPA-32)', async () => {
  const first = await make('first', '10.96.1.2');
  await write('services/default/second', {
    ...first,
    metadata: { ...first.metadata, name: 'second', uid: 'other' },
  });
  await harness.until('the event is recorded', async () => (await eventsOf('second')).length === 1);
  assert.deepEqual(await eventsOf('second'), [
    `${reporter} ClusterIPAllocation ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.96.1.2 was assigned to multiple services; please recreate service`,
  ]);
  assert.deepEqual(await eventsOf('first'), []);
  assert.equal(await parentOf('10.96.1.2'), 'first');
  await harness.api.delete(`${services}/second`);
  assert.equal(
    await parentOf('10.96.1.2'),
    'first',
    'the IPAddress stays when the other Service is deleted',
  );
});

test('a Service with a cluster IP outside of all ranges gets an event (IPA-29)', async () => {
  const { metadata, ...rest } = await make('outside', '10.96.1.3');
  const spec = { ...rest.spec, clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] };
  await write('services/default/outside', { ...rest, spec, metadata } as KubeObject);
  await harness.until(
    'the event is recorded',
    async () => (await eventsOf('outside')).length === 1,
  );
  assert.deepEqual(await eventsOf('outside'), [
    `${reporter} ClusterIPAllocation ClusterIPOutOfRange: Cluster IP [IPv4]: 10.1.1.1 is not within any configured Service CIDR; please recreate service`,
  ]);
  // The previous IPAddress is an orphan now.
  await harness.until('it is deleted', () => harness.isGone(`${addresses}/10.96.1.3`));
});

test('an IPAddress without its labels, or with another parent, is replaced (IPA-33)', async () => {
  await make('unlabelled', '10.96.1.4');
  await harness.api.patch(`${addresses}/10.96.1.4`, { metadata: { labels: null } });
  await harness.until('it has its labels', async () => {
    const answer = await harness.api.send<IPAddress>({
      method: 'GET',
      path: `${addresses}/10.96.1.4`,
    });
    return answer.body.metadata.labels?.['ipaddress.kubernetes.io/ip-family'] === 'IPv4';
  });
  assert.deepEqual(await eventsOf('unlabelled'), []);

  await make('stolen', '10.96.1.5');
  await harness.api.delete(`${addresses}/10.96.1.5`);
  await hold('10.96.1.5', { group: 'example.com', resource: 'things', name: 'thief' }, {});
  await harness.until(
    'the IPAddress is restored',
    async () => (await parentOf('10.96.1.5')) === 'stolen',
  );
  await harness.until('the event is recorded', async () => (await eventsOf('stolen')).length === 1);
  assert.match(
    String(await eventsOf('stolen')),
    /ClusterIPNotAllocated: the ClusterIP \[IPv4\]: 10\.96\.1\.5 for Service default\/stolen has a wrong reference; repairing/,
  );
});

test('an IPAddress of a Service that does not exist is deleted after a minute, with an event (IPA-30, IPA-31)', async () => {
  await hold('10.96.1.6', ofService('gone'));
  await harness.clock.advance(58_000);
  assert.equal(await parentOf('10.96.1.6'), 'gone');
  await harness.until('it is deleted', () => harness.isGone(`${addresses}/10.96.1.6`), 5000);
  await harness.until(
    'the event is recorded',
    async () => (await eventsOf('10.96.1.6')).length === 1,
  );
  assert.deepEqual(await eventsOf('10.96.1.6'), [
    `${reporter} IPAddressAllocation IPAddressNotAllocated: IPAddress: 10.96.1.6 for Service default/gone appears to have leaked: cleaning up`,
  ]);
});

test('an IPAddress that its Service does not use is deleted after some seconds, or a minute for an ExternalName Service (IPA-30, IPA-31)', async () => {
  await make('has-another', '10.96.1.7');
  await harness.api.post(services, {
    metadata: { name: 'external' },
    spec: { type: 'ExternalName', externalName: 'a.example' },
  });
  await harness.clock.advance(2000);
  await hold('10.96.1.8', ofService('has-another'));
  await hold('10.96.1.9', ofService('external'));
  await harness.clock.advance(3000);
  assert.equal(await parentOf('10.96.1.8'), 'has-another');
  await harness.until('it is deleted', () => harness.isGone(`${addresses}/10.96.1.8`), 4000);
  await harness.until(
    'the event is recorded',
    async () => (await eventsOf('10.96.1.8')).length === 1,
  );
  assert.deepEqual(await eventsOf('10.96.1.8'), [
    `${reporter} IPAddressAllocation IPAddressWrongReference: IPAddress: 10.96.1.8 for Service default/has-another has a wrong reference; cleaning up`,
  ]);
  await harness.clock.advance(40_000);
  assert.equal(await parentOf('10.96.1.9'), 'external');
  await harness.until('it is deleted', () => harness.isGone(`${addresses}/10.96.1.9`), 20_000);
});

test('IPAddresses of other managers are left alone (IPA-30)', async () => {
  await hold('10.96.1.10', ofService('gone'), {});
  await harness.clock.advance(200_000);
  assert.equal(await parentOf('10.96.1.10'), 'gone');
});

test('findings are counted by type (NPT-17)', () => {
  const lines = harness.metrics.text().split('\n');
  const count = (type: string): number =>
    Number(
      lines
        .find((l) => l.startsWith(`apiserver_clusterip_repair_ip_errors_total{type="${type}"}`))
        ?.split(' ')[1],
    );
  assert.deepEqual(
    ['repair', 'duplicate', 'outOfRange', 'leak'].map((type) => count(type) > 0),
    [true, true, true, true],
  );
});

test('every ServiceCIDR, including the default one, gets the finalizer and the condition Ready (IPA-19, IPA-21)', async () => {
  const read = (): Promise<ServiceCIDR> => harness.api.get(`${networking}/servicecidrs/kubernetes`);
  await harness.until('it is held', async () => (await read()).metadata.finalizers !== undefined);
  await harness.until(
    'it is ready',
    async () =>
      (await read()).status.conditions?.[0]?.message === 'Kubernetes Service CIDR is ready',
  );
  const { metadata, status } = await read();
  assert.deepEqual(metadata.finalizers, ['networking.k8s.io/service-cidr-finalizer']);
  const [ready] = status.conditions ?? [];
  assert.deepEqual([ready?.type, ready?.status, ready?.reason], ['Ready', 'True', '']);
});

// Services and IPAddresses that disagree, as crashes, people and other programs leave them: what the repair mends, what it
// tells, and how long it waits. Time stands still until a test moves it.
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

/** Past all rules, as another program may write it. */
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

type Told = {
  readonly regarding: { readonly name: string };
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly action?: string;
  readonly reportingController: string;
};

const told = async (name: string): Promise<readonly string[]> =>
  (await harness.list<Told>('/apis/events.k8s.io/v1/events'))
    .filter(({ regarding }) => regarding.name === name)
    .map((e) => `${e.reportingController} ${e.type} ${e.action} ${e.reason}: ${e.note}`);

const holderOf = async (name: string): Promise<string | undefined> =>
  (await harness.api.send<IPAddress>({ method: 'GET', path: `${addresses}/${name}` })).body.spec
    ?.parentRef?.name;

const reporter = 'ipallocator-repair-controller Warning';

test('a Service whose address has no object gets one, and that is told (IPA-28, IPA-29)', async () => {
  await make('lost', '10.96.1.1');
  await harness.api.delete(`${addresses}/10.96.1.1`);
  await harness.until('it is back', async () => (await holderOf('10.96.1.1')) === 'lost');
  assert.deepEqual(
    (await harness.api.get<IPAddress>(`${addresses}/10.96.1.1`)).metadata.labels,
    labels,
  );
  await harness.until('it is told', async () => (await told('lost')).length === 1);
  assert.deepEqual(await told('lost'), [
    `${reporter} ClusterIPAllocation ClusterIPNotAllocated: Cluster IP [IPv4]: 10.96.1.1 is not allocated; repairing`,
  ]);
});

test('of two Services with one address the one that its object names is right (IPA-29, IPA-32)', async () => {
  const first = await make('first', '10.96.1.2');
  await write('services/default/second', {
    ...first,
    metadata: { ...first.metadata, name: 'second', uid: 'other' },
  });
  await harness.until('it is told', async () => (await told('second')).length === 1);
  assert.deepEqual(await told('second'), [
    `${reporter} ClusterIPAllocation ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.96.1.2 was assigned to multiple services; please recreate service`,
  ]);
  assert.deepEqual(await told('first'), []);
  assert.equal(await holderOf('10.96.1.2'), 'first');
  await harness.api.delete(`${services}/second`);
  assert.equal(await holderOf('10.96.1.2'), 'first', 'what one has does not go with the other');
});

test('a Service with an address outside of all ranges is told so (IPA-29)', async () => {
  const { metadata, ...rest } = await make('outside', '10.96.1.3');
  const spec = { ...rest.spec, clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] };
  await write('services/default/outside', { ...rest, spec, metadata } as KubeObject);
  await harness.until('it is told', async () => (await told('outside')).length === 1);
  assert.deepEqual(await told('outside'), [
    `${reporter} ClusterIPAllocation ClusterIPOutOfRange: Cluster IP [IPv4]: 10.1.1.1 is not within any configured Service CIDR; please recreate service`,
  ]);
  // The address that it had belongs to nobody now.
  await harness.until('it is freed', () => harness.isGone(`${addresses}/10.96.1.3`));
});

test('an address without its labels, or of another parent, is made anew for its Service (IPA-33)', async () => {
  await make('unlabelled', '10.96.1.4');
  await harness.api.patch(`${addresses}/10.96.1.4`, { metadata: { labels: null } });
  await harness.until('it has its labels', async () => {
    const answer = await harness.api.send<IPAddress>({
      method: 'GET',
      path: `${addresses}/10.96.1.4`,
    });
    return answer.body.metadata.labels?.['ipaddress.kubernetes.io/ip-family'] === 'IPv4';
  });
  assert.deepEqual(await told('unlabelled'), []);

  await make('stolen', '10.96.1.5');
  await harness.api.delete(`${addresses}/10.96.1.5`);
  await hold('10.96.1.5', { group: 'example.com', resource: 'things', name: 'thief' }, {});
  await harness.until('it is back', async () => (await holderOf('10.96.1.5')) === 'stolen');
  await harness.until('it is told', async () => (await told('stolen')).length === 1);
  assert.match(
    String(await told('stolen')),
    /ClusterIPNotAllocated: the ClusterIP \[IPv4\]: 10\.96\.1\.5 for Service default\/stolen has a wrong reference; repairing/,
  );
});

test('an address of a Service that is not there goes after a minute, and that is told (IPA-30, IPA-31)', async () => {
  await hold('10.96.1.6', ofService('gone'));
  await harness.clock.advance(58_000);
  assert.equal(await holderOf('10.96.1.6'), 'gone');
  await harness.until('it goes', () => harness.isGone(`${addresses}/10.96.1.6`), 5000);
  await harness.until('it is told', async () => (await told('10.96.1.6')).length === 1);
  assert.deepEqual(await told('10.96.1.6'), [
    `${reporter} IPAddressAllocation IPAddressNotAllocated: IPAddress: 10.96.1.6 for Service default/gone appears to have leaked: cleaning up`,
  ]);
});

test('an address that its Service does not have goes after some seconds, or a minute for an external name (IPA-30, IPA-31)', async () => {
  await make('has-another', '10.96.1.7');
  await harness.api.post(services, {
    metadata: { name: 'external' },
    spec: { type: 'ExternalName', externalName: 'a.example' },
  });
  await harness.clock.advance(2000);
  await hold('10.96.1.8', ofService('has-another'));
  await hold('10.96.1.9', ofService('external'));
  await harness.clock.advance(3000);
  assert.equal(await holderOf('10.96.1.8'), 'has-another');
  await harness.until('it goes', () => harness.isGone(`${addresses}/10.96.1.8`), 4000);
  await harness.until('it is told', async () => (await told('10.96.1.8')).length === 1);
  assert.deepEqual(await told('10.96.1.8'), [
    `${reporter} IPAddressAllocation IPAddressWrongReference: IPAddress: 10.96.1.8 for Service default/has-another has a wrong reference; cleaning up`,
  ]);
  await harness.clock.advance(40_000);
  assert.equal(await holderOf('10.96.1.9'), 'external');
  await harness.until('it goes', () => harness.isGone(`${addresses}/10.96.1.9`), 20_000);
});

test('addresses that others manage are left alone (IPA-30)', async () => {
  await hold('10.96.1.10', ofService('gone'), {});
  await harness.clock.advance(200_000);
  assert.equal(await holderOf('10.96.1.10'), 'gone');
});

test('what was found is counted by its kind (NPT-17)', () => {
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

test('the controller holds every range, the default one too, and says that it is ready (IPA-19, IPA-21)', async () => {
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

// The controllers against the whole API server. Time stands still until a test moves it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../src/meta/object.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const until: ControllerHarness['until'] = (...args) => harness.until(...args);
const isGone = (path: string): Promise<boolean> => harness.isGone(path);
const makeNamespace = (name: string): Promise<void> => harness.makeNamespace(name);

const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

async function makeConfigMap(namespace: string, metadata: ObjectMeta): Promise<OwnerReference> {
  const { metadata: made } = await harness.api.post(configMaps(namespace), { metadata });
  return { apiVersion: 'v1', kind: 'ConfigMap', name: made.name ?? '', uid: made.uid ?? '' };
}

const read = (namespace: string, name: string): Promise<KubeObject> =>
  harness.api.get(`${configMaps(namespace)}/${name}`);

test('a namespace gets its default ServiceAccount and CA bundle, also after their deletion', async () => {
  await makeNamespace('fresh');
  const account = '/api/v1/namespaces/fresh/serviceaccounts/default';
  const bundle = `${configMaps('fresh')}/kube-root-ca.crt`;
  await until('both are there', async () => !(await isGone(account)) && !(await isGone(bundle)));
  await harness.api.delete(account);
  await harness.api.patch(bundle, { data: { 'ca.crt': 'forged', more: 'x' } });
  await until('the account is back', async () => !(await isGone(account)));
  await until('the bundle is restored', async () => {
    const { data } = await harness.api.get<{ data: object }>(bundle);
    return JSON.stringify(data) === JSON.stringify({ 'ca.crt': 'CERTIFICATE' });
  });
  await harness.api.delete(bundle);
  await until('the bundle is back', async () => !(await isGone(bundle)));
});

test('a deleted namespace loses its content, waits for finalizers, and is removed (KCT-40)', async () => {
  await makeNamespace('old');
  await makeConfigMap('old', { name: 'plain' });
  await makeConfigMap('old', { name: 'held', finalizers: ['example.com/hold'] });
  const service = await harness.api.post<{ spec: { clusterIP: string } }>(
    '/api/v1/namespaces/old/services',
    {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    },
  );
  await harness.api.delete('/api/v1/namespaces/old');
  await harness.clock.advance(4000);
  assert.equal(await isGone(`${configMaps('old')}/plain`), false);
  await until('the content goes', () => isGone(`${configMaps('old')}/plain`), 5000);
  await until('the service goes', () => isGone('/api/v1/namespaces/old/services/s'), 5000);
  await until('the address is free', () =>
    isGone(`/apis/networking.k8s.io/v1/ipaddresses/${service.spec.clusterIP}`),
  );
  type Conditions = {
    status: { conditions?: readonly { type: string; status: string; message: string }[] };
  };
  await until('the status tells what holds it', async () => {
    const { status } = await harness.api.get<Conditions>('/api/v1/namespaces/old');
    const found = status.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining');
    return (
      found?.status === 'True' && found.message.endsWith('example.com/hold in 1 resource instances')
    );
  });
  await harness.api.patch(`${configMaps('old')}/held`, { metadata: { finalizers: null } });
  await until('the namespace goes', () => isGone('/api/v1/namespaces/old'));
});

test('dependents are deleted after their last owner (KCT-39)', async () => {
  await makeNamespace('gc');
  const first = await makeConfigMap('gc', { name: 'first' });
  const second = await makeConfigMap('gc', { name: 'second' });
  await makeConfigMap('gc', { name: 'shared', ownerReferences: [first, second] });
  await makeConfigMap('gc', { name: 'single', ownerReferences: [first] });
  await makeConfigMap('gc', {
    name: 'grandchild',
    ownerReferences: [await makeConfigMap('gc', { name: 'child', ownerReferences: [first] })],
  });
  await makeConfigMap('gc', {
    name: 'impostor',
    ownerReferences: [{ ...second, uid: 'another-life' }],
  });
  await harness.api.delete(`${configMaps('gc')}/first`);
  for (const name of ['single', 'child', 'grandchild', 'impostor']) {
    await until(`${name} goes`, () => isGone(`${configMaps('gc')}/${name}`));
  }
  await until('the reference to the owner that is gone is dropped', async () => {
    const { metadata } = await read('gc', 'shared');
    return (
      metadata.ownerReferences?.length === 1 && metadata.ownerReferences[0]?.uid === second.uid
    );
  });
  await harness.api.delete(`${configMaps('gc')}/second`);
  await until('shared goes', () => isGone(`${configMaps('gc')}/shared`));
});

test('an owner in another namespace does not count', async () => {
  await makeNamespace('here');
  await makeNamespace('there');
  const owner = await makeConfigMap('there', { name: 'owner' });
  await makeConfigMap('here', { name: 'lost', ownerReferences: [owner] });
  await until('it goes', () => isGone(`${configMaps('here')}/lost`));
  assert.equal(await isGone(`${configMaps('there')}/owner`), false);
});

test('a foreground deletion waits for blocking dependents (KCT-39)', async () => {
  await makeNamespace('front');
  const owner = await makeConfigMap('front', { name: 'owner' });
  const hold = { finalizers: ['example.com/hold'] };
  await makeConfigMap('front', {
    name: 'blocks',
    ...hold,
    ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
  });
  await makeConfigMap('front', { name: 'free', ...hold, ownerReferences: [owner] });
  await harness.clock.advance(1000);
  await harness.api.delete(`${configMaps('front')}/owner?propagationPolicy=Foreground`);
  for (const name of ['blocks', 'free']) {
    await until(
      `${name} is deleted`,
      async () => (await read('front', name)).metadata.deletionTimestamp !== undefined,
    );
  }
  await harness.clock.advance(5000);
  assert.equal(await isGone(`${configMaps('front')}/owner`), false);
  await harness.api.patch(`${configMaps('front')}/blocks`, { metadata: { finalizers: null } });
  await until('the owner goes', () => isGone(`${configMaps('front')}/owner`));
  await harness.api.patch(`${configMaps('front')}/free`, { metadata: { finalizers: null } });
});

test('an orphan deletion keeps the dependents (KCT-39)', async () => {
  await makeNamespace('orphans');
  const owner = await makeConfigMap('orphans', { name: 'owner' });
  await makeConfigMap('orphans', { name: 'child', ownerReferences: [owner] });
  await harness.clock.advance(1000);
  await harness.api.delete(`${configMaps('orphans')}/owner?propagationPolicy=Orphan`);
  await until('the owner goes', () => isGone(`${configMaps('orphans')}/owner`));
  await harness.clock.advance(5000);
  assert.equal((await read('orphans', 'child')).metadata.ownerReferences, undefined);
});

test('a ServiceCIDR becomes ready, stays while in use, and is removed ten seconds after its deletion at the earliest (IPA-21, IPA-23, IPA-24, IPA-25)', async () => {
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
  type Range = KubeObject & {
    status: { conditions?: readonly { status: string; reason: string }[] };
  };
  const state = async (): Promise<string> => {
    const { metadata, status } = await harness.api.get<Range>(`${ranges}/extra`);
    const [ready] = status.conditions ?? [];
    return `${metadata.finalizers?.join() ?? ''} ${ready?.status ?? ''} ${ready?.reason ?? ''}`.trim();
  };
  await harness.api.post(ranges, {
    metadata: { name: 'extra' },
    spec: { cidrs: ['10.97.0.0/28'] },
  });
  await until(
    'it is ready',
    async () => (await state()) === 'networking.k8s.io/service-cidr-finalizer True',
  );
  const services = '/api/v1/namespaces/default/services';
  const spec = { ports: [{ port: 80 }], clusterIP: '10.97.0.5' };
  await harness.api.post(services, { metadata: { name: 'needs-it' }, spec });
  await harness.api.delete(`${ranges}/extra`);
  await until(
    'it tells why it stays',
    async () => (await state()) === 'networking.k8s.io/service-cidr-finalizer False Terminating',
  );
  await harness.clock.advance(20_000);
  assert.equal(await isGone(`${ranges}/extra`), false);
  await harness.api.delete(`${services}/needs-it`);
  await until('it goes', () => isGone(`${ranges}/extra`));

  await harness.api.post(ranges, {
    metadata: { name: 'unused' },
    spec: { cidrs: ['10.98.0.0/28'] },
  });
  await until(
    'it is held',
    async () => (await harness.api.get(`${ranges}/unused`)).metadata.finalizers !== undefined,
  );
  await harness.api.delete(`${ranges}/unused`);
  await harness.clock.advance(8000);
  assert.equal(await isGone(`${ranges}/unused`), false);
  await until('it goes', () => isGone(`${ranges}/unused`), 5000);
});

test('a pod of a missing node does not block the deletion of its namespace', async () => {
  await makeNamespace('lost');
  await harness.api.post('/api/v1/namespaces/lost/pods', {
    metadata: { name: 'p' },
    spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
  });
  await harness.api.delete('/api/v1/namespaces/lost');
  await harness.clock.advance(30_000);
  assert.equal(await isGone('/api/v1/namespaces/lost/pods/p'), false);
  await until('the pod goes', () => isGone('/api/v1/namespaces/lost/pods/p'), 70_000);
  await until('the namespace goes', () => isGone('/api/v1/namespaces/lost'));
});

// The work of the controllers of Services: endpoints and slices, those made by hand, ranges and addresses.
import type { KubeObject } from '../../../src/meta/object.ts';
import { agent, isGone, list, ns, until, type World } from './work-world.ts';

const networking = '/apis/networking.k8s.io/v1';

export async function services(world: World): Promise<void> {
  const { api } = world;
  const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
  await api.post(`${ns}/services`, { metadata: { name: 'web' }, spec });
  const slices = '/apis/discovery.k8s.io/v1/namespaces/work/endpointslices';
  const addressesOf = async (): Promise<number> =>
    (await list<{ endpoints?: readonly object[] }>(world, slices)).reduce(
      (sum, { endpoints = [] }) => sum + endpoints.length,
      0,
    );
  await until(world, 'slices', async () => (await addressesOf()) === 2);
  await api.patch('/apis/apps/v1/namespaces/work/deployments/web', { spec: { replicas: 3 } });
  await until(world, 'three endpoints', async () => {
    await agent(world);
    return (await addressesOf()) === 3;
  });
  await until(world, 'endpoints', async () => {
    const found = await api.get<{ subsets?: readonly { addresses?: readonly object[] }[] }>(
      `${ns}/endpoints/web`,
    );
    return found.subsets?.[0]?.addresses?.length === 3;
  });
  // The controllers themselves remove what is left of a Service whose slices are too many.
  await api.patch(`${ns}/services/web`, { spec: { ports: [{ port: 81 }] } });
  const [slice] = await list(world, slices);
  await api.post(slices, {
    ...slice,
    metadata: {
      name: 'web-more',
      labels: slice?.metadata.labels,
      ownerReferences: slice?.metadata.ownerReferences,
    },
  });
  await until(world, 'one slice', async () => (await list(world, slices)).length === 1);
  await api.delete(`${ns}/services/web?propagationPolicy=Orphan`);
  await until(world, 'endpoints go', () => isGone(world, `${ns}/endpoints/web`));
}

export async function mirroring(world: World): Promise<void> {
  const { api } = world;
  const slices = '/apis/discovery.k8s.io/v1/namespaces/work/endpointslices';
  const mirrored = async (): Promise<readonly KubeObject[]> =>
    (await list(world, slices)).filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'hand',
    );
  const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
  await api.post(`${ns}/services`, { metadata: { name: 'hand' }, spec: { ports: [{ port: 80 }] } });
  await api.post(`${ns}/endpoints`, { metadata: { name: 'hand' }, subsets: subsets('192.0.2.7') });
  await until(world, 'mirrored', async () => (await mirrored()).length === 1);
  await api.patch(`${ns}/endpoints/hand`, { subsets: subsets('192.0.2.8') });
  await until(world, 'changed', async () => JSON.stringify(await mirrored()).includes('192.0.2.8'));
  await api.patch(`${ns}/services/hand`, { spec: { selector: { app: 'none' } } });
  await until(world, 'no longer mirrored', async () => {
    return !JSON.stringify(await mirrored()).includes('192.0.2.8');
  });
  await api.delete(`${ns}/services/hand`);
}

export async function ranges(world: World): Promise<void> {
  const { api } = world;
  const path = `${networking}/servicecidrs`;
  const spec = { cidrs: ['10.97.0.0/28'] };
  await api.post(path, { metadata: { name: 'extra' }, spec });
  await until(world, 'the range is held', async () => {
    return (await api.get(`${path}/extra`)).metadata.finalizers !== undefined;
  });
  await until(world, 'the range is ready', async () => {
    const { status } = await api.get<{ status: { conditions?: object[] } }>(`${path}/extra`);
    return status.conditions !== undefined;
  });
  await api.delete(`${path}/extra`);
  await until(world, 'it goes', () => isGone(world, `${path}/extra`));
}

export async function addresses(world: World): Promise<void> {
  const { api } = world;
  const path = `${networking}/ipaddresses`;
  const made = await api.post<{ spec: { clusterIP: string } }>(`${ns}/services`, {
    metadata: { name: 'addressed' },
    spec: { ports: [{ port: 80 }] },
  });
  const own = `${path}/${made.spec.clusterIP}`;
  const { metadata, spec } = await api.get<KubeObject & { spec: object }>(own);
  await api.delete(own);
  await until(world, 'the address is back', async () => !(await isGone(world, own)));
  const parentRef = { resource: 'services', namespace: 'work', name: 'missing' };
  await api.post(path, {
    metadata: { name: '10.96.77.7', labels: metadata.labels },
    spec: { ...spec, parentRef },
  });
  await until(world, 'the orphaned address is deleted', () => isGone(world, `${path}/10.96.77.7`));
}

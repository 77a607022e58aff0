// Claims, volumes, quotas: what people ask of the controllers for them.
import { volumesDirectoryAnnotation } from '../../../src/kinds/persistent-volume/local-directory.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { ApiClient } from './api-client.ts';
import { isGone, list, ns, until, type World } from './work-world.ts';

type WithStatus = KubeObject & {
  readonly spec: { readonly volumeName?: string };
  readonly status: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly used?: Readonly<Record<string, string>>;
  };
};

const claims = `${ns}/persistentvolumeclaims`;
const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
/** Its volumes are made at once, on the node that has a directory for them. */
export const directoriesClass = 'directories';
const size = (storage: string) => ({ requests: { storage } });

const statusOf = async ({ api }: World, path: string): Promise<WithStatus['status']> =>
  (await api.get<WithStatus>(path)).status;

const isBound = (world: World, claim: string) => async (): Promise<boolean> =>
  (await statusOf(world, `${claims}/${claim}`)).phase === 'Bound';

export async function storage(world: World): Promise<void> {
  await boundVolume(world);
  await localVolume(world);
  await ephemeralVolume(world);
  await volumesOfPods(world);
}

/** A volume that a person made, and that goes with its claim. */
async function boundVolume(world: World): Promise<void> {
  const { api } = world;
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'by-hand' };
  await api.post(classes, {
    ...{ metadata: { name: 'by-hand' }, provisioner: 'kubernetes.io/no-provisioner' },
    allowVolumeExpansion: true,
  });
  await api.post(volumes, {
    metadata: { name: 'by-hand' },
    spec: {
      ...spec,
      capacity: { storage: '2Gi' },
      hostPath: { path: '/tmp/by-hand' },
      persistentVolumeReclaimPolicy: 'Delete',
    },
  });
  await api.post(claims, { metadata: { name: 'c' }, spec: { ...spec, resources: size('1Gi') } });
  await until(world, 'the claim is bound', isBound(world, 'c'));
  let gibibytes = 2;
  await until(world, 'an event says who is to expand it', async () => {
    // An event that was refused is not sent again.
    gibibytes += 1;
    await api.patch(`${claims}/c`, { spec: { resources: size(`${gibibytes}Gi`) } });
    const events = await list<KubeObject & { reason: string }>(world, `${ns}/events`);
    return events.some(({ reason }) => reason === 'ExternalExpanding');
  });
  await api.delete(`${claims}/c`);
  await until(world, 'the volume goes', () => isGone(world, `${volumes}/by-hand`));
}

/** A directory of a node, which grows and goes with its claim. */
async function localVolume(world: World): Promise<void> {
  const { api } = world;
  const annotations = { [volumesDirectoryAnnotation]: '/var/lib/example' };
  await api.patch('/api/v1/nodes/near', { metadata: { annotations } });
  await api.post(classes, {
    ...{ metadata: { name: directoriesClass }, provisioner: 'fairlead.dev/local' },
    allowVolumeExpansion: true,
  });
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: directoriesClass };
  const path = `${claims}/d`;
  await api.post(claims, { metadata: { name: 'd' }, spec: { ...spec, resources: size('1Gi') } });
  await until(world, 'a directory is provisioned', isBound(world, 'd'));
  await api.patch(path, { spec: { resources: size('3Gi') } });
  await until(world, 'the claim grows', async () => {
    const { capacity } = await statusOf(world, path);
    return capacity?.storage === '3Gi';
  });
  const { spec: bound } = await api.get<WithStatus>(path);
  await api.delete(path);
  const volume = `${volumes}/${bound.volumeName ?? ''}`;
  await until(world, 'the volume is deleted', async () => {
    const { metadata } = await api.get(volume);
    return metadata.deletionTimestamp !== undefined;
  });
  // As the agent of the node does when the directory is gone.
  await api.patch(volume, { metadata: { finalizers: null } });
  await until(world, 'the volume is gone', () => isGone(world, volume));
}

async function ephemeralVolume(world: World): Promise<void> {
  const { api } = world;
  const template = {
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: size('1Gi') },
  };
  await api.post(`${ns}/pods`, {
    metadata: { name: 'scratch' },
    spec: {
      schedulerName: 'none',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }],
    },
  });
  await until(
    world,
    'the claim of the pod is made',
    async () => !(await isGone(world, `${claims}/scratch-v`)),
  );
  await api.delete(`${ns}/pods/scratch`);
  await until(world, 'the claim goes with its pod', () => isGone(world, `${claims}/scratch-v`));
}

const provisioners = { there: 'kubernetes.io/no-provisioner', made: 'fairlead.dev/local' };

/** A pod with two claims that wait for its node: one for a volume that is there, the other for one that is made. */
export async function makeConsumer(api: ApiClient, namespace: string, node: string): Promise<void> {
  const volumeBindingMode = 'WaitForFirstConsumer';
  const accessModes = ['ReadWriteOnce'];
  for (const [name, provisioner] of Object.entries(provisioners))
    await api.post(classes, { metadata: { name }, provisioner, volumeBindingMode });
  await api.post(volumes, {
    metadata: { name: 'there' },
    spec: {
      ...{ accessModes, storageClassName: 'there', capacity: { storage: '2Gi' } },
      hostPath: { path: '/srv/there' },
    },
  });
  for (const name of Object.keys(provisioners)) {
    const spec = { accessModes, storageClassName: name, resources: size('1Gi') };
    await api.post(`${namespace}/persistentvolumeclaims`, { metadata: { name }, spec });
  }
  const onNode = {
    nodeSelectorTerms: [
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] },
    ],
  };
  await api.post(`${namespace}/pods`, {
    metadata: { name: 'consumer' },
    spec: {
      automountServiceAccountToken: false,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onNode } },
      containers: [{ name: 'c', image: 'i' }],
      volumes: Object.keys(provisioners).map((name) => ({
        ...{ name, persistentVolumeClaim: { claimName: name } },
      })),
    },
  });
}

async function volumesOfPods(world: World): Promise<void> {
  const { api } = world;
  await makeConsumer(api, ns, 'near');
  for (const name of Object.keys(provisioners))
    await until(world, `the claim ${name} is bound`, isBound(world, name));
  await until(world, 'the consumer is scheduled', async () => {
    const { spec } = await api.get<KubeObject & { spec: { nodeName?: string } }>(
      `${ns}/pods/consumer`,
    );
    return spec.nodeName === 'near';
  });
  await api.delete(`${ns}/pods/consumer?gracePeriodSeconds=0`);
  const { spec } = await api.get<WithStatus>(`${claims}/made`);
  for (const name of Object.keys(provisioners)) await api.delete(`${claims}/${name}`);
  const volume = `${volumes}/${spec.volumeName ?? ''}`;
  await until(world, 'the volume that was made is deleted', async () => {
    const { metadata } = await api.get(volume);
    return metadata.deletionTimestamp !== undefined;
  });
  await api.patch(volume, { metadata: { finalizers: null } });
}

export async function quotas(world: World): Promise<void> {
  const { api } = world;
  const path = `${ns}/resourcequotas/q`;
  await api.post(`${ns}/resourcequotas`, {
    metadata: { name: 'q' },
    spec: { hard: { 'count/configmaps': '50' } },
  });
  await until(world, 'the quota is counted', async () => {
    const { used } = await statusOf(world, path);
    return used?.['count/configmaps'] !== undefined;
  });
  await api.delete(path);
}

// The work of the controllers of DaemonSets and StatefulSets: roll-outs, rollbacks, adoptions, and names that are taken.
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { directoriesClass } from './work-on-storage.ts';
import { agent, isGone, list, ns, until, type World } from './work-world.ts';

/** Where rights are granted one by one, each costs two tries of one key, and the back-off doubles. */
const maxRefusedMs = 1_200_000;
const apps = '/apis/apps/v1/namespaces/work';

type Revision = KubeObject & { readonly revision: number };
type Kind = { readonly plural: string; readonly app: string; readonly spec?: object };

const template = (app: string, image = 'app:1') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'app', image }] },
});

const specOf = ({ app, spec }: Kind): object => ({
  selector: { matchLabels: { app } },
  template: template(app),
  revisionHistoryLimit: 1,
  ...spec,
});

const podsOf = async (world: World, { app }: Kind): Promise<readonly Pod[]> =>
  (await list<Pod>(world, `${ns}/pods`)).filter(({ metadata }) => metadata.labels?.app === app);

const revisionsOf = async (world: World, { app }: Kind): Promise<readonly Revision[]> =>
  (await list<Revision>(world, `${apps}/controllerrevisions`)).filter(
    ({ metadata }) => metadata.labels?.app === app,
  );

export async function daemonSets(world: World): Promise<void> {
  const kind: Kind = { plural: 'daemonsets', app: 'daemon' };
  await orphans(world, kind, 'alone');
  await world.api.post(`${apps}/daemonsets`, { metadata: { name: 'daemon' }, spec: specOf(kind) });
  await rollOut(world, kind, world.alive.size);
  await remove(world, kind);
  await takenRevision(world, kind);
}

export async function statefulSets(world: World): Promise<void> {
  const { api } = world;
  const claim = {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      // The scheduler places no pod whose claim has no volume.
      storageClassName: directoriesClass,
      resources: { requests: { storage: '1Gi' } },
    },
  };
  const kind: Kind = {
    plural: 'statefulsets',
    app: 'stateful',
    spec: {
      replicas: 2,
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    },
  };
  const claims = async (): Promise<readonly KubeObject[]> =>
    (await list(world, `${ns}/persistentvolumeclaims`)).filter(
      ({ metadata }) =>
        metadata.labels?.app === 'stateful' && metadata.deletionTimestamp === undefined,
    );
  // It lacks the labels of its identity, which it gets.
  await orphans(world, { ...kind, app: 'stateful' }, 'stateful-0', [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-stateful-0' } },
  ]);
  const path = `${apps}/statefulsets/stateful`;
  await api.post(`${apps}/statefulsets`, { metadata: { name: 'stateful' }, spec: specOf(kind) });
  const haveOwners = async (): Promise<boolean> => {
    await agent(world);
    const all = await claims();
    return all.length === 2 && all.every(({ metadata }) => metadata.ownerReferences?.length === 1);
  };
  await until(world, 'its claims belong to it', haveOwners, maxRefusedMs);
  await rollOut(world, kind, 2);
  await api.patch(`${path}/scale`, { spec: { replicas: 1 } });
  await until(world, 'the claim goes with the pod', async () => {
    await agent(world);
    return (await claims()).length === 1;
  });
  await remove(world, kind);
  await takenRevision(world, { ...kind, spec: { replicas: 1 } });
}

/** A pod and a revision that have no owner yet. */
async function orphans(
  world: World,
  { app }: Kind,
  pod: string,
  volumes: readonly object[] = [],
): Promise<void> {
  const labels = { app };
  await world.api.post(`${ns}/pods`, {
    metadata: { name: pod, labels },
    spec: { ...template(app).spec, nodeName: 'near', volumes },
  });
  await world.api.post(`${apps}/controllerrevisions`, {
    metadata: { name: `${app}-old`, labels },
    data: { spec: { template: 'none' } },
    revision: 3,
  });
}

/** Forwards twice, and back once: the earliest revision goes, and one is used again. */
async function rollOut(world: World, kind: Kind, count: number): Promise<void> {
  const { api } = world;
  const isRolledOut = (image: string) => async (): Promise<boolean> => {
    await agent(world);
    const pods = await podsOf(world, kind);
    return pods.length === count && pods.every(({ spec }) => spec.containers?.[0]?.image === image);
  };
  const path = `${apps}/${kind.plural}/${kind.app}`;
  await until(world, 'it runs', isRolledOut('app:1'));
  for (const image of ['app:2', 'app:1']) {
    await api.patch(path, { spec: { template: template(kind.app, image) } });
    await until(world, `it is at ${image}`, isRolledOut(image));
  }
  await until(world, 'one old revision is left', async () => {
    const revisions = await revisionsOf(world, kind);
    return revisions.length === 2 && revisions.every(({ revision }) => revision > 3);
  });
}

async function remove(world: World, kind: Kind): Promise<void> {
  const path = `${apps}/${kind.plural}/${kind.app}`;
  await world.api.delete(`${path}?propagationPolicy=Foreground`);
  await until(world, 'it goes with its pods and revisions', async () => {
    await agent(world);
    return (await isGone(world, path)) && (await revisionsOf(world, kind)).length === 0;
  });
}

/** The name of a revision is in use: another is chosen. */
async function takenRevision(world: World, kind: Kind): Promise<void> {
  const { api } = world;
  const path = `${apps}/${kind.plural}`;
  const named = `${kind.app}-1`;
  const make = () => api.post(path, { metadata: { name: named }, spec: specOf(kind) });
  const count = async (): Promise<number> => (await revisionsOf(world, kind)).length;
  await make();
  await until(world, 'it has a revision', async () => (await count()) === 1);
  const [revision] = await revisionsOf(world, kind);
  await remove(world, { ...kind, app: named }).then(() =>
    until(world, 'its revision goes', async () => (await count()) === 0),
  );
  await api.post(`${apps}/controllerrevisions`, {
    metadata: { name: revision?.metadata.name },
    data: {},
    revision: 1,
  });
  await make();
  await until(world, 'it has another revision', async () => (await count()) === 1);
  await api.delete(`${path}/${named}`);
  await until(world, 'its pods go', async () => {
    await agent(world);
    return (await podsOf(world, kind)).length === 0;
  });
}

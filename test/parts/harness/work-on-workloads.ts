// The work of the controllers of pods: what people do with Deployments, ReplicaSets and ReplicationControllers, and a node that is lost.
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { markReady } from './node-agent.ts';
import { agent, isGone, list, ns, pass, until, type World } from './work-world.ts';

const apps = '/apis/apps/v1/namespaces/work';
const template = (image = 'app:1') => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image, ports: [{ containerPort: 80 }] }] },
});
const selector = { matchLabels: { app: 'web' } };

export async function deployments(world: World): Promise<void> {
  const { api } = world;
  const orphan = { name: 'orphan', labels: { app: 'web' } };
  await api.post(`${apps}/replicasets`, {
    metadata: orphan,
    spec: { replicas: 1, selector, template: template() },
  });
  const path = `${apps}/deployments/web`;
  const spec = { replicas: 2, selector, template: template(), revisionHistoryLimit: 0 };
  await api.post(`${apps}/deployments`, { metadata: { name: 'web' }, spec });
  const isDone = (image: string) => async (): Promise<boolean> => {
    await agent(world);
    const pods = await list<Pod>(world, `${ns}/pods`);
    const { status } = await api.get<{ status: { availableReplicas?: number } }>(path);
    const isNew = pods.every(({ spec }) => spec.containers?.[0]?.image === image);
    return pods.length === 2 && isNew && status.availableReplicas === 2;
  };
  await until(world, 'rolled out', isDone('app:1'));
  await api.patch(path, { spec: { template: template('app:2') } });
  await until(world, 'rolled over', isDone('app:2'));
  await until(world, 'old sets are gone', async () => {
    return (await list(world, `${apps}/replicasets`)).length === 1;
  });
  // A pod with the labels of the set is taken over, and one that loses them is let go.
  const [pod] = await list<Pod>(world, `${ns}/pods`);
  await api.patch(`${ns}/pods/${pod?.metadata.name}`, { metadata: { labels: { app: 'x' } } });
  await until(world, 'the pod is let go', async () => {
    const { metadata } = await api.get<Pod>(`${ns}/pods/${pod?.metadata.name}`);
    return metadata.ownerReferences === undefined;
  });
  await api.patch(`${ns}/pods/${pod?.metadata.name}`, { metadata: { labels: { app: 'web' } } });
  await until(world, 'it is taken back, and one goes', isDone('app:2'));
  await takenName(world);
  const misfit = { containers: [{ name: 'c', image: 'i' }], nodeSelector: { disk: 'ssd' } };
  await api.post(`${ns}/pods`, { metadata: { name: 'misfit' }, spec: misfit });
  await until(world, 'the scheduling failure is reported', async () => {
    const { status } = await api.get<Pod>(`${ns}/pods/misfit`);
    return status.conditions?.[0]?.reason === 'Unschedulable';
  });
  await api.delete(`${ns}/pods/misfit`);
}

/** The name of a ReplicaSet is in use: the Deployment chooses another. */
async function takenName(world: World): Promise<void> {
  const { api } = world;
  const labels = { app: 'clash' };
  const spec = {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { ...template(), metadata: { labels } },
  };
  const deployment = { metadata: { name: 'clash' }, spec };
  const sets = async (): Promise<readonly KubeObject[]> =>
    (await list(world, `${apps}/replicasets`)).filter(({ metadata }) =>
      metadata.name?.startsWith('clash-'),
    );
  await api.post(`${apps}/deployments`, deployment);
  await until(world, 'it has a set', async () => (await sets()).length === 1);
  const [set] = await sets();
  await api.delete(`${apps}/deployments/clash`);
  await until(world, 'the set goes', async () => (await sets()).length === 0);
  const other = { app: 'other' };
  await api.post(`${apps}/replicasets`, {
    metadata: { name: set?.metadata.name },
    spec: {
      ...spec,
      selector: { matchLabels: other },
      template: { ...template(), metadata: { labels: other } },
    },
  });
  await api.post(`${apps}/deployments`, deployment);
  await until(world, 'it has another set', async () => (await sets()).length === 2);
  await api.delete(`${apps}/deployments/clash`);
}

export async function replicationControllers(world: World): Promise<void> {
  const { api } = world;
  const rc = `${ns}/replicationcontrollers/old`;
  const pods = async (): Promise<readonly Pod[]> => {
    const all = await list<Pod>(world, `${ns}/pods`);
    return all.filter(({ metadata }) => metadata.labels?.app === 'old');
  };
  const labels = { app: 'old' };
  const spec = template().spec;
  await api.post(`${ns}/pods`, { metadata: { name: 'alone', labels }, spec });
  await api.post(`${ns}/replicationcontrollers`, {
    metadata: { name: 'old' },
    spec: { replicas: 2, selector: labels, template: { metadata: { labels }, spec } },
  });
  await until(world, 'its pods', async () => (await pods()).length === 2);
  await api.patch(`${rc}/scale`, { spec: { replicas: 1 } });
  await until(world, 'one pod', async () => {
    await agent(world);
    return (await pods()).length === 1;
  });
  await api.delete(`${rc}?propagationPolicy=Foreground`);
  await until(world, 'it goes with its pods', async () => {
    await agent(world);
    return (await isGone(world, rc)) && (await pods()).length === 0;
  });
}

export async function lostNode(world: World): Promise<void> {
  const { api } = world;
  const spec = (nodeName: string) => ({
    nodeName,
    containers: [{ name: 'c', image: 'i' }],
    tolerations: ['not-ready', 'unreachable'].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    })),
  });
  await markReady(
    world,
    await api.post<Pod>(`${ns}/pods`, { metadata: { name: 'lost' }, spec: spec('far') }),
  );
  world.alive.delete('far');
  await pass(world, 120_000);
  await until(world, 'the pod of the lost node leaves', async () => {
    const { status, body } = await api.send<Pod>({ method: 'GET', path: `${ns}/pods/lost` });
    return status === 404 || body.metadata.deletionTimestamp !== undefined;
  });
  await api.delete('/api/v1/nodes/far');
  await until(world, 'it is collected', () => isGone(world, `${ns}/pods/lost`), 400_000);
}

// The work of the controllers of jobs and disruption budgets.
import type { Job } from '../../../src/kinds/job/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { PodDisruptionBudget } from '../../../src/kinds/pod-disruption-budget/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { formatTime } from '../../../src/schema/time.ts';
import { agent, isGone, list, ns, until, type World } from './work-world.ts';

const batch = '/apis/batch/v1/namespaces/work';
const spec = { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app:1' }] };

const podsOf = async (world: World, job: string): Promise<readonly Pod[]> =>
  (await list<Pod>(world, `${ns}/pods`)).filter(({ metadata }) => metadata.labels?.job === job);

async function finish(world: World, pods: readonly Pod[]): Promise<void> {
  for (const { metadata } of pods)
    await world.api.patch(`${ns}/pods/${metadata.name}/status`, { status: { phase: 'Succeeded' } });
}

/** A pod is adopted, pods are deleted when the job is suspended, and the finished job expires. */
export async function jobs(world: World): Promise<void> {
  const { api } = world;
  const labels = { job: 'count' };
  const path = `${batch}/jobs/count`;
  await api.post(`${ns}/pods`, { metadata: { name: 'taken', labels }, spec });
  await api.post(`${batch}/jobs`, {
    metadata: { name: 'count' },
    spec: {
      completions: 2,
      parallelism: 2,
      ttlSecondsAfterFinished: 5,
      manualSelector: true,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  });
  const active = async (): Promise<number> => (await api.get<Job>(path)).status.active ?? 0;
  await until(world, 'two pods', async () => (await active()) === 2);
  await api.patch(path, { spec: { suspend: true } });
  await until(world, 'it is suspended', async () => {
    await agent(world);
    return (await active()) === 0 && (await podsOf(world, 'count')).length === 0;
  });
  await api.patch(path, { spec: { suspend: false } });
  await until(world, 'it is resumed', async () => (await active()) === 2);
  await finish(world, await podsOf(world, 'count'));
  await until(world, 'it is finished and expires', async () => {
    await agent(world);
    return isGone(world, path);
  });
}

/** Each minute replaces the job of the last one; finished ones go beyond the limit. */
export async function cronJobs(world: World): Promise<void> {
  const { api } = world;
  const labels = { job: 'tick' };
  await api.post(`${batch}/cronjobs`, {
    metadata: { name: 'tick' },
    spec: {
      schedule: '* * * * *',
      concurrencyPolicy: 'Replace',
      successfulJobsHistoryLimit: 0,
      jobTemplate: { spec: { template: { metadata: { labels }, spec } } },
    },
  });
  const names = async (): Promise<readonly (string | undefined)[]> =>
    (await list(world, `${batch}/jobs`)).map(({ metadata }) => metadata.name);
  await until(world, 'a job', async () => (await names()).length === 1);
  const [first] = await names();
  await until(world, 'it is replaced', async () => {
    await agent(world);
    const all = await names();
    return all.length === 1 && all[0] !== first;
  });
  await api.patch(`${batch}/cronjobs/tick`, { spec: { suspend: true } });
  await finish(world, await podsOf(world, 'tick'));
  await until(world, 'the finished one goes', async () => {
    await agent(world);
    return (await names()).length === 0;
  });
  await api.delete(`${batch}/cronjobs/tick`);
}

/** A budget over a pod whose controller has a scale, and a pod that was to be evicted and was not. */
export async function budgets(world: World): Promise<void> {
  const { api } = world;
  const deployment = await api.post<KubeObject>('/apis/apps/v1/namespaces/work/deployments', {
    metadata: { name: 'scaled' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'scaled' } },
      template: {
        metadata: { labels: { app: 'scaled' } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      },
    },
  });
  const labels = { guarded: 'yes' };
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'scaled',
    uid: deployment.metadata.uid,
    controller: true,
  };
  await api.post(`${ns}/pods`, {
    metadata: { name: 'guarded', labels, ownerReferences: [owner] },
    spec,
  });
  const path = '/apis/policy/v1/namespaces/work/poddisruptionbudgets';
  await api.post(path, {
    metadata: { name: 'guard' },
    spec: { maxUnavailable: '50%', selector: { matchLabels: labels } },
  });
  await until(world, 'the budget is judged', async () => {
    const { status } = await api.get<PodDisruptionBudget>(`${path}/guard`);
    return status.conditions?.[0]?.reason === 'InsufficientPods';
  });
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: formatTime(world.clock.now()),
  };
  await api.patch(`${ns}/pods/guarded/status`, { status: { conditions: [condition] } });
  await until(
    world,
    'the condition is taken back',
    async () => {
      const { status } = await api.get<Pod>(`${ns}/pods/guarded`);
      return status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status === 'False';
    },
    300_000,
  );
  await api.delete('/apis/apps/v1/namespaces/work/deployments/scaled');
  await until(world, 'the pod goes', async () => {
    await agent(world);
    return isGone(world, `${ns}/pods/guarded`);
  });
}

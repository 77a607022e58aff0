// What a job does to pods: creates them, deletes them, and removes their finalizer.
import { createPod, deletePod, type PodTask, staysForNow } from '../../client/apply-pods.ts';
import { resourceClient } from '../../client/rest.ts';
import { slowStart } from '../../client/slow-start.ts';
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { jobTrackingFinalizer } from '../../kinds/job/names.ts';
import type { Job } from '../../kinds/job/types.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { newPod } from './new-pod.ts';
import { isTracked } from './pod-state.ts';

export type JobTask = PodTask & { readonly owner: Job };

/** Concurrent requests. */
const concurrency = 16;

export type Applied = {
  /** The pods for which it succeeded. */
  readonly done: readonly Pod[];
  readonly failure?: string;
};

/** Within one process requests never wait for a socket: hundreds of them would block the event loop. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const workSome = async (): Promise<void> => {
    for (const item of waiting) {
      await work(item);
      const due = yieldWhenDue();
      if (due !== undefined) await due;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, workSome));
}

async function applyToEach(
  pods: readonly Pod[],
  apply: (pod: Pod) => Promise<string | undefined>,
): Promise<Applied> {
  const done: Pod[] = [];
  let failure: string | undefined;
  await forEach(pods, async (pod) => {
    const problem = await apply(pod);
    if (problem === undefined) done.push(pod);
    else failure ??= problem;
  });
  return { done, ...(failure === undefined ? {} : { failure }) };
}

/** They keep their finalizer, and are counted. */
export const deletePods = (task: JobTask, pods: readonly Pod[]): Promise<Applied> =>
  applyToEach(pods, (pod) => deletePod(task, pod));

/** They are not counted. */
export const discardPods = (task: JobTask, pods: readonly Pod[]): Promise<Applied> =>
  applyToEach(pods, async (pod) => (await releasePod(task, pod)) ?? (await deletePod(task, pod)));

export const releasePods = (task: JobTask, pods: readonly Pod[]): Promise<Applied> =>
  applyToEach(pods, (pod) => releasePod(task, pod));

/** Removes the finalizer. Returns the message of a failure; a pod that has gone is none. */
export async function releasePod(
  { caller, writeRecorder }: Pick<JobTask, 'caller' | 'writeRecorder'>,
  pod: Pod,
): Promise<string | undefined> {
  if (!isTracked(pod)) return undefined;
  const { name = '', namespace = '', uid } = pod.metadata;
  // The uid makes it fail for another pod of that name.
  const patch = {
    metadata: { uid, '$deleteFromPrimitiveList/finalizers': [jobTrackingFinalizer] },
  };
  try {
    const client = resourceClient(caller, podDefinition);
    const after = await client.patch({ namespace, name }, patch, { type: 'strategic' });
    if (after.metadata.deletionTimestamp === undefined || staysForNow(after))
      writeRecorder.wrote(after);
    else writeRecorder.deleted(after);
    return undefined;
  } catch (error) {
    if (!isNotFound(error)) return (error as Error).message;
    writeRecorder.deleted(pod);
    return undefined;
  }
}

export type Created = { readonly count: number; readonly failure?: string };

/** In batches that double: a request that always fails, fails few times. */
export async function createPods(
  task: JobTask,
  indexes: readonly (number | undefined)[],
  replaced: ReadonlyMap<number, Pod>,
): Promise<Created> {
  let count = 0;
  let failure: string | undefined;
  let start = 0;
  for (const size of slowStart(indexes.length)) {
    await forEach(indexes.slice(start, start + size), async (index) => {
      const before = index === undefined ? undefined : replaced.get(index);
      const problem = await createPod(task, newPod(task.owner, index, before));
      if (problem === undefined) count += 1;
      else failure ??= problem;
    });
    if (failure !== undefined) return { count, failure };
    start += size;
  }
  return { count };
}

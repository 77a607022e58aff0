// Creates and deletes the pods of a replica set.
import { createPod, deletePod, type PodTask } from '../../client/apply-pods.ts';
import { slowStart } from '../../client/slow-start.ts';
import { podFromTemplate } from '../../kinds/pod-template/pod-from-template.ts';
import type { ReplicaPlan } from './desired.ts';
import type { ReplicaOwner } from './replica-owner.ts';
import type { ReplicaFailure } from './status.ts';

type ReplicaTask = PodTask & { readonly owner: ReplicaOwner };

/** Concurrent deletions. */
const deleteBatch = 50;

/** Returns the first failure; completed changes stay. */
export async function applyReplicas(
  task: ReplicaTask,
  plan: ReplicaPlan,
): Promise<ReplicaFailure | undefined> {
  if (plan.create > 0) return makePods(task, plan.create);
  for (let at = 0; at < plan.delete.length; at += deleteBatch) {
    const batch = plan.delete.slice(at, at + deleteBatch);
    const failures = await allFailures(batch.map((pod) => deletePod(task, pod)));
    if (failures[0] !== undefined) return { reason: 'FailedDelete', message: failures[0] };
  }
  return undefined;
}

async function makePods(task: ReplicaTask, count: number): Promise<ReplicaFailure | undefined> {
  const { owner } = task;
  const { template } = owner.spec;
  if (template === undefined) return undefined;
  const make = (): Promise<string | undefined> => createPod(task, podFromTemplate(owner, template));
  for (const size of slowStart(count)) {
    const failures = await allFailures(Array.from({ length: size }, make));
    if (failures[0] !== undefined) return { reason: 'FailedCreate', message: failures[0] };
  }
  return undefined;
}

async function allFailures(attempts: readonly Promise<string | undefined>[]): Promise<string[]> {
  return (await Promise.all(attempts)).filter((message) => message !== undefined);
}

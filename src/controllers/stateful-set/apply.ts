// Creates, changes and deletes the pods of a stateful set and their claims, with upstream's events. Upstream: StatefulPodControl in
// pkg/controller/statefulset.
import type { ApiCaller } from '../../client/api-call.ts';
import { removePod } from '../../client/apply-pods.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { slowStart } from '../../client/slow-start.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { isAlreadyExists } from '../../meta/api-error.ts';
import { claimsOf, desiredOwners } from './claims.ts';
import type { PodAction, StatefulPlan } from './desired.ts';

export type StatefulTask = {
  readonly caller: ApiCaller;
  readonly set: StatefulSet;
  readonly pods: ResourceClient<Pod>;
  readonly claims: ResourceClient<PersistentVolumeClaim>;
  readonly claimNamed: (name: string) => PersistentVolumeClaim | undefined;
  readonly recordPod: WriteRecorder<Pod>;
  readonly recorder: EventRecorder;
};

/** Returns the first failure; completed changes stay. */
export async function applyStatefulPlan(
  task: StatefulTask,
  { phases }: StatefulPlan,
): Promise<unknown> {
  for (const actions of phases) {
    const remaining = [...actions];
    for (const size of slowStart(actions.length)) {
      const batch = remaining.splice(0, size);
      const results = await Promise.allSettled(batch.map((action) => apply(task, action)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) return failed.reason;
    }
  }
  return undefined;
}

async function apply(task: StatefulTask, { action, pod }: PodAction): Promise<void> {
  switch (action) {
    case 'create':
      return createMember(task, pod);
    case 'delete':
      return withPodEvent(task, { verb: 'Delete', pod }, async () => {
        await removePod({ caller: task.caller, writeRecorder: task.recordPod }, pod);
      });
    case 'update':
      return withPodEvent(task, { verb: 'Update', pod }, async () => {
        await makeClaims(task, pod);
        task.recordPod.wrote(await task.pods.update(pod));
      });
    case 'claims':
      await makeClaims(task, pod);
      return setOwners(task, pod);
    case 'owners':
      return setOwners(task, pod);
  }
}

async function createMember(task: StatefulTask, pod: Pod): Promise<void> {
  await makeClaims(task, pod);
  let created: Pod | undefined;
  try {
    await withPodEvent(task, { verb: 'Create', pod }, async () => {
      created = await task.pods.create(pod);
      task.recordPod.wrote(created);
    });
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error;
  }
  if (created !== undefined) await setOwners(task, created);
}

/** A pod of the name that is there already is no news: the informer shows it soon. */
async function withPodEvent(
  { recorder, set }: StatefulTask,
  { verb, pod }: { readonly verb: 'Create' | 'Update' | 'Delete'; readonly pod: Pod },
  work: () => Promise<void>,
): Promise<void> {
  const what = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await work();
  } catch (error) {
    if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) {
      const message = `${what} failed error: ${(error as Error).message}`;
      recorder.record(set, { type: 'Warning', reason: `Failed${verb}`, message });
    }
    throw error;
  }
  recorder.record(set, {
    type: 'Normal',
    reason: `Successful${verb}`,
    message: `${what} successful`,
  });
}

async function makeClaims(task: StatefulTask, pod: Pod): Promise<void> {
  for (const claim of claimsOf(task.set, pod)) {
    const existing = task.claimNamed(claim.metadata.name ?? '');
    if (existing === undefined) await makeClaim(task, pod, claim);
    else if (existing.metadata.deletionTimestamp !== undefined)
      throw new Error(`pvc ${claim.metadata.name} is being deleted`);
  }
}

async function makeClaim(
  { claims, recorder, set }: StatefulTask,
  pod: Pod,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const { name } = claim.metadata;
  const where = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await claims.create(claim);
  } catch (error) {
    // The informer does not show it yet.
    if (isAlreadyExists(error)) return;
    const { message } = error as Error;
    if (!isNamespaceTerminating(error))
      recorder.record(set, {
        type: 'Warning',
        reason: 'FailedCreate',
        message: `Create Claim ${name} for ${where} failed error: ${message}`,
      });
    throw new Error(`failed to create PVC ${name}: ${message}`, { cause: error });
  }
  recorder.record(set, {
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Create Claim ${name} ${where} success`,
  });
}

/** Claims that the informer does not show yet get their owners in a later sync. */
async function setOwners({ claims, claimNamed, set }: StatefulTask, pod: Pod): Promise<void> {
  for (const { metadata } of claimsOf(set, pod)) {
    const claim = claimNamed(metadata.name ?? '');
    if (claim === undefined) continue;
    const owners = desiredOwners(claim, { set, pod });
    if (owners === undefined) continue;
    const { ownerReferences: _, ...rest } = claim.metadata;
    await claims.update({
      ...claim,
      metadata: { ...rest, ...(owners.length === 0 ? {} : { ownerReferences: owners }) },
    });
  }
}

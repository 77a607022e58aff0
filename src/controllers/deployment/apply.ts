// Carries out the plan for a deployment: replica sets first, then the status.
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { ResourceClient } from '../../client/rest.ts';
import type { Deployment } from '../../kinds/deployment/types.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import { type DeploymentPlan, withCollision, withFailedCreate } from './desired.ts';
import { sizeOf } from './limits.ts';
import { hasTemplate, type SetChange } from './rollout-state.ts';

export type DeploymentTask = {
  readonly deployment: Deployment;
  readonly deployments: ResourceClient<Deployment>;
  readonly replicaSets: ResourceClient<ReplicaSet>;
  readonly recorder: EventRecorder;
  readonly setWriteRecorder: WriteRecorder<ReplicaSet>;
  readonly writeRecorder: WriteRecorder<Deployment>;
  readonly now: number;
};

/** False when the namespace is terminating: nothing can be created, and nothing remains to be done. */
export async function applyPlan(task: DeploymentTask, plan: DeploymentPlan): Promise<boolean> {
  /** The version of a set after an earlier change of the same plan. */
  const versions = new Map<string, string | undefined>();
  for (const change of plan.changes) {
    const answer =
      change.action === 'create'
        ? await create(task, change.replicaSet)
        : await update(task, change.replicaSet, versions);
    if (answer === undefined) return false;
    task.setWriteRecorder.wrote(answer);
    versions.set(answer.metadata.name ?? '', answer.metadata.resourceVersion);
    logSize(task, change);
  }
  for (const set of plan.remove) await remove(task, set);
  if (plan.deployment !== undefined) await writeStatus(task, plan.deployment);
  return true;
}

function logSize(
  { recorder, deployment }: DeploymentTask,
  { replicaSet, scaledFrom }: SetChange,
): void {
  if (scaledFrom === undefined) return;
  const size = sizeOf(replicaSet);
  const direction = size > scaledFrom ? 'up' : 'down';
  const message = `Scaled ${direction} replica set ${replicaSet.metadata.name} from ${scaledFrom} to ${size}`;
  recorder.record(deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
}

async function update(
  { replicaSets }: DeploymentTask,
  replicaSet: ReplicaSet,
  versions: ReadonlyMap<string, string | undefined>,
): Promise<ReplicaSet> {
  const { metadata } = replicaSet;
  const resourceVersion = versions.get(metadata.name ?? '') ?? metadata.resourceVersion;
  return replicaSets.update({
    ...replicaSet,
    metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  });
}

/** Undefined when the namespace is terminating. */
async function create(task: DeploymentTask, set: ReplicaSet): Promise<ReplicaSet | undefined> {
  const { replicaSets, recorder, deployment, now } = task;
  try {
    return await replicaSets.create(set);
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    if (isAlreadyExists(error)) return adoptExisting(task, set, error);
    const failed = withFailedCreate(deployment, set, (error as Error).message, now);
    recorder.record(deployment, {
      type: 'Warning',
      reason: 'FailedCreate',
      message: failed.message,
    });
    await writeStatus(task, failed.deployment);
    throw error;
  }
}

/** The name exists: it is our own set, which the informer does not show yet, or one of another template with the same hash. */
async function adoptExisting(
  task: DeploymentTask,
  set: ReplicaSet,
  error: unknown,
): Promise<ReplicaSet> {
  const { replicaSets, deployment } = task;
  const { namespace = '', name = '' } = set.metadata;
  const existing = await replicaSets.get({ namespace, name });
  const isOurs = controllerOf(existing)?.uid === deployment.metadata.uid;
  if (isOurs && hasTemplate(existing, deployment.spec.template)) return existing;
  await writeStatus(task, withCollision(deployment));
  throw error;
}

async function remove(
  { replicaSets, setWriteRecorder }: DeploymentTask,
  set: ReplicaSet,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = set.metadata;
  try {
    await replicaSets.delete(
      { namespace, name },
      { propagationPolicy: 'Background', preconditions: { uid } },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  setWriteRecorder.deleted(set);
}

/** Written through the status subresource, which also accepts the revision annotation. */
async function writeStatus(
  { deployments, deployment: before, writeRecorder }: DeploymentTask,
  after: Deployment,
): Promise<void> {
  if (deepEqual(before, after)) return;
  try {
    writeRecorder.wrote(await deployments.update(after, { subresource: 'status' }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

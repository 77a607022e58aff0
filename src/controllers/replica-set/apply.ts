// Creates and deletes pods, and records events about it.
import { type ApiCaller, callApi } from '../../client/api-call.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import { resourcePath } from '../../client/resource.ts';
import { resourceClient } from '../../client/rest.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { podFromTemplate, type ReplicaPlan, slowStart } from './desired.ts';
import type { ReplicaOwner } from './replica-owner.ts';
import type { ReplicaFailure } from './status.ts';

export type ReplicaTask = {
  readonly caller: ApiCaller;
  readonly owner: ReplicaOwner;
  readonly writeRecorder: WriteRecorder<Pod>;
  readonly recorder: EventRecorder;
};

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
  for (const size of slowStart(count)) {
    const failures = await allFailures(Array.from({ length: size }, () => makePod(task)));
    if (failures[0] !== undefined) return { reason: 'FailedCreate', message: failures[0] };
  }
  return undefined;
}

async function allFailures(attempts: readonly Promise<string | undefined>[]): Promise<string[]> {
  return (await Promise.all(attempts)).filter((message) => message !== undefined);
}

async function makePod({
  caller,
  owner,
  writeRecorder,
  recorder,
}: ReplicaTask): Promise<string | undefined> {
  const { template } = owner.spec;
  if (template === undefined) return undefined;
  try {
    const pod = await resourceClient(caller, podDefinition).create(
      podFromTemplate(owner, template),
    );
    writeRecorder.wrote(pod);
    const message = `Created pod: ${pod.metadata.name}`;
    recorder.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message });
    return undefined;
  } catch (error) {
    // The owner is deleted with its namespace; nothing to report.
    if (isNamespaceTerminating(error)) return undefined;
    const message = (error as Error).message;
    recorder.record(owner, {
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Error creating: ${message}`,
    });
    return message;
  }
}

async function deletePod(
  { caller, owner, writeRecorder, recorder }: ReplicaTask,
  pod: Pod,
): Promise<string | undefined> {
  const { name = '', namespace = '', uid } = pod.metadata;
  try {
    const answer = (await callApi(caller, {
      method: 'DELETE',
      path: resourcePath(podDefinition, { namespace, name }),
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } },
    })) as Pod;
    if (staysForNow(answer))
      writeRecorder.wrote({ ...answer, kind: pod.kind, apiVersion: pod.apiVersion });
    else writeRecorder.deleted(pod);
  } catch (error) {
    if (!isNotFound(error)) {
      const { message } = error as Error;
      const event = { reason: 'FailedDelete', message: `Error deleting: ${message}` };
      recorder.record(owner, { type: 'Warning', ...event });
      return message;
    }
    writeRecorder.deleted(pod);
    return undefined;
  }
  const message = `Deleted pod: ${name}`;
  recorder.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message });
  return undefined;
}

/** Running pods get their grace period, and pods with finalizers stay until those are removed. */
function staysForNow({ metadata }: Partial<Pod>): boolean {
  const { deletionGracePeriodSeconds = 0, finalizers = [] } = metadata ?? {};
  return deletionGracePeriodSeconds > 0 || finalizers.length > 0;
}

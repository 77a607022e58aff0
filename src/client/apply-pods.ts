// Creates and deletes pods for the workload that owns them, with its events. Upstream: RealPodControl in pkg/controller/controller_utils.go.
import { isNamespaceTerminating } from '../kinds/namespace/terminating-error.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { isNotFound } from '../meta/api-error.ts';
import type { KubeObject } from '../meta/object.ts';
import { type ApiCaller, callApi } from './api-call.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { WriteRecorder } from './expectations.ts';
import { resourcePath } from './resource.ts';
import { resourceClient } from './rest.ts';

export type PodTask = {
  readonly caller: ApiCaller;
  readonly owner: KubeObject;
  readonly writeRecorder: WriteRecorder<Pod>;
  readonly recorder: EventRecorder;
};

/** Returns the message of a failure; a terminating namespace is none, because its owner is deleted as well. */
export async function createPod(
  { caller, owner, writeRecorder, recorder }: PodTask,
  pod: Pod,
): Promise<string | undefined> {
  try {
    const created = await resourceClient(caller, podDefinition).create(pod);
    writeRecorder.wrote(created);
    const message = `Created pod: ${created.metadata.name}`;
    recorder.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message });
    return undefined;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    const { message } = error as Error;
    const event = { reason: 'FailedCreate', message: `Error creating: ${message}` };
    recorder.record(owner, { type: 'Warning', ...event });
    return message;
  }
}

/** Returns the message of a failure; a pod that has gone is none. */
export async function deletePod(
  { caller, owner, writeRecorder, recorder }: PodTask,
  pod: Pod,
): Promise<string | undefined> {
  try {
    if (!(await removePod({ caller, writeRecorder }, pod))) return undefined;
  } catch (error) {
    const { message } = error as Error;
    const event = { reason: 'FailedDelete', message: `Error deleting: ${message}` };
    recorder.record(owner, { type: 'Warning', ...event });
    return message;
  }
  const message = `Deleted pod: ${pod.metadata.name}`;
  recorder.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message });
  return undefined;
}

/** This pod and no other of its name. False when it has gone already. */
export async function removePod(
  { caller, writeRecorder }: Pick<PodTask, 'caller' | 'writeRecorder'>,
  pod: Pod,
): Promise<boolean> {
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
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    writeRecorder.deleted(pod);
    return false;
  }
}

/** Running pods get their grace period, and pods with finalizers stay until those are removed. */
export function staysForNow({ metadata }: Partial<Pod>): boolean {
  const { deletionGracePeriodSeconds = 0, finalizers = [] } = metadata ?? {};
  return deletionGracePeriodSeconds > 0 || finalizers.length > 0;
}

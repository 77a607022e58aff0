// Binds pods to nodes, or records why they are unschedulable.
import { type ApiCaller, callApi } from '../../client/api-call.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import { resourcePath } from '../../client/resource.ts';
import { resourceClient } from '../../client/rest.ts';
import {
  boundByControllerAnnotation,
  selectedNodeAnnotation,
} from '../../kinds/persistent-volume/binding.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import { judgedPodCondition, podConditionPatch } from '../../kinds/pod/conditions.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { podCondition } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import type { VolumePlan } from './volumes.ts';

export type SchedulingTask = {
  readonly caller: ApiCaller;
  readonly recorder: EventRecorder;
  readonly now: number;
};

/** False when the pod is deleted or has a node already. */
export async function bindPod(
  { caller, recorder }: SchedulingTask,
  pod: Pod,
  node: string,
): Promise<boolean> {
  const { name = '', namespace = '', uid } = pod.metadata;
  try {
    await callApi(caller, {
      method: 'POST',
      path: resourcePath(podDefinition, { namespace, name, subresource: 'binding' }),
      body: {
        kind: 'Binding',
        apiVersion: 'v1',
        metadata: { namespace, name, uid },
        target: { kind: 'Node', name: node },
      },
    });
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
  const message = `Successfully assigned ${objectKey(pod.metadata)} to ${node}`;
  recorder.record(pod, { type: 'Normal', reason: 'Scheduled', message });
  return true;
}

/** Reserves free volumes for their claims, and says for which node the others are to be made. */
export async function bindVolumes(
  { caller }: SchedulingTask,
  plans: readonly VolumePlan[],
): Promise<undefined> {
  const claims = resourceClient(caller, persistentVolumeClaimDefinition);
  const volumes = resourceClient(caller, persistentVolumeDefinition);
  for (const plan of plans) {
    const { name = '', namespace = '', uid = '', resourceVersion } = plan.claim.metadata;
    if ('volume' in plan) {
      const { metadata, spec } = plan.volume;
      const annotations = { ...metadata.annotations, [boundByControllerAnnotation]: 'yes' };
      const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid };
      await volumes.update({
        ...plan.volume,
        metadata: { ...metadata, annotations },
        spec: { ...spec, claimRef },
      });
    } else if (plan.claim.metadata.annotations?.[selectedNodeAnnotation] !== plan.node) {
      const annotations = { [selectedNodeAnnotation]: plan.node };
      const patch = { metadata: { uid, resourceVersion, annotations } };
      await claims.patch({ namespace, name }, patch, { type: 'merge' });
    }
  }
}

export async function reportUnschedulable(
  { caller, recorder, now }: SchedulingTask,
  pod: Pod,
  message: string,
): Promise<void> {
  recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
  const before = podCondition(pod, 'PodScheduled');
  const unschedulable = { status: 'False', reason: 'Unschedulable', message };
  const isReported =
    before?.status === unschedulable.status &&
    before.reason === unschedulable.reason &&
    before.message === message;
  if (isReported) return;
  const { name = '', namespace = '', uid, generation } = pod.metadata;
  const verdict = {
    type: 'PodScheduled',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...unschedulable,
  };
  const { conditions } = pod.status;
  const condition = judgedPodCondition(conditions, verdict, formatTime(now));
  const change = podConditionPatch(conditions, condition);
  const patch = { metadata: { uid }, status: { conditions: [change] } };
  try {
    await resourceClient(caller, podDefinition).patch({ namespace, name }, patch, {
      type: 'strategic',
      subresource: 'status',
    });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

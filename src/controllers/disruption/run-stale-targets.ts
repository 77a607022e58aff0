// Takes back the condition DisruptionTarget of pods that were to be evicted and were not. Upstream: stalePodDisruption in
// pkg/controller/disruption.
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, type Reconciler, startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { judgedPodCondition, podConditionPatch } from '../../kinds/pod/conditions.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { isPodFinished, podCondition } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import { formatTime, parseTime } from '../../schema/time.ts';
import type { ControllerParts } from '../controller.ts';

const staleAfterMs = 120_000;
const conditionType = 'DisruptionTarget';

export type StaleTargets = {
  readonly ended: Reconciler['ended'];
  readonly stop: () => void;
};

type Parts = ControllerParts & { readonly pods: Informer<Pod> };

export function startStaleTargets(parts: Parts, signal: AbortSignal): StaleTargets {
  const { pods, clock, log, queueMetrics: metrics } = parts;
  const { queue, ended } = startReconciler(
    {
      name: 'stale_pod_disruption',
      reconcile: (key) => sync(parts, key),
      clock,
      log,
      metrics,
    },
    signal,
  );
  const check = (pod: Pod): void => {
    const leftMs = staleInMs(pod, clock.now());
    if (leftMs !== undefined) queue.addAfter(objectKey(pod.metadata), leftMs);
  };
  const stop = pods.onChange({ add: check, update: (_before, after) => check(after) });
  return { ended, stop };
}

/** Undefined: it has no such condition, or is on its way out. The kubelet's own condition may last longer. */
function staleInMs(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, conditionType);
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  if (pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod)) return undefined;
  const since = parseTime(condition.lastTransitionTime ?? '') ?? 0;
  return Math.max(0, since + staleAfterMs - now);
}

async function sync(
  { caller, pods, clock }: Parts,
  key: string,
): Promise<ReconcileResult | undefined> {
  const pod = pods.store.get(key);
  const leftMs = pod === undefined ? undefined : staleInMs(pod, clock.now());
  if (pod === undefined || leftMs === undefined) return undefined;
  if (leftMs > 0) return { retryAfterMs: leftMs };
  const { name = '', namespace = '', uid } = pod.metadata;
  const { conditions } = pod.status;
  const now = formatTime(clock.now());
  const taken = judgedPodCondition(conditions, { type: conditionType, status: 'False' }, now);
  const patch = {
    metadata: { uid },
    status: { conditions: [podConditionPatch(conditions, taken)] },
  };
  try {
    const client = resourceClient(caller, podDefinition);
    await client.patch({ namespace, name }, patch, { type: 'strategic', subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}

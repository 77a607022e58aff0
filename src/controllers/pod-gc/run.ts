// Deletes pods that no kubelet will terminate, periodically.

import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { sleep } from '../../host/clock.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { withPodCondition } from '../../kinds/pod/conditions.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { PodCondition } from '../../kinds/pod/pod-status.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { type LostPod, planPodGc } from './desired.ts';
import { createPodGcMetrics, type PodGcMetrics } from './metrics.ts';

const everyMs = 20_000;

export const podGc: Controller = {
  name: 'pod-garbage-collector-controller',
  shortName: 'podgc',
  account: 'pod-garbage-collector',
  watches: mayWatch(podDefinition, nodeDefinition),
  rights: [
    may('get', nodeDefinition),
    may('delete', podDefinition),
    may('patch', podDefinition, { subresource: 'status' }),
  ],
  async run(parts, signal) {
    const pods = parts.informers.of(podDefinition);
    const nodes = parts.informers.of(nodeDefinition);
    const metrics = createPodGcMetrics(parts.metrics);
    if (!(await waitForSync([pods, nodes], signal))) return;
    let missingSince: ReadonlyMap<string, number> = new Map();
    while (!signal.aborted) {
      await sleep(parts.clock, everyMs, signal);
      if (signal.aborted) return;
      const plan = planPodGc({
        pods: [...pods.store.values()],
        nodes: new Set(nodes.store.keys()),
        missingSince,
        maxFinished: parts.settings.terminatedPodGcThreshold,
        now: parts.clock.now(),
      });
      ({ missingSince } = plan);
      await removeAll(parts, metrics, plan.others);
      for (const [node, lost] of plan.orphaned) {
        if (await isMissing(parts, node)) await removeAll(parts, metrics, lost);
      }
    }
  },
};

async function isMissing({ caller, log }: ControllerParts, name: string): Promise<boolean> {
  try {
    await resourceClient(caller, nodeDefinition).get({ name });
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    log.debug('Failed to read node, retrying later', { node: name, error: String(error) });
    return false;
  }
}

/** Failed deletions are retried by the next round. */
async function removeAll(
  { caller, clock, log }: ControllerParts,
  metrics: PodGcMetrics,
  lost: readonly LostPod[],
): Promise<void> {
  const client = resourceClient(caller, podDefinition);
  for (const one of lost) {
    const pod = objectKey(one.pod.metadata);
    try {
      await remove(client, one, formatTime(clock.now()));
      metrics.removed(one.pod.metadata.namespace ?? '', one.reason);
      log.info('Deleted pod', { pod, reason: one.message ?? one.reason });
    } catch (error) {
      if (isNotFound(error)) continue;
      metrics.failed(one.pod.metadata.namespace ?? '', one.reason);
      log.debug('Failed to delete pod, retrying later', { pod, error: String(error) });
    }
  }
}

async function remove(
  client: ResourceClient<Pod>,
  { pod, message }: LostPod,
  now: string,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  if (!isPodFinished(pod)) {
    const status = {
      phase: 'Failed',
      ...(message === undefined ? {} : { conditions: disrupted(pod, message, now) }),
    };
    await client.patch(
      { namespace, name },
      { metadata: { uid }, status },
      { type: 'merge', subresource: 'status' },
    );
  }
  await client.delete({ namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
}

function disrupted(pod: Pod, message: string, now: string): readonly PodCondition[] {
  const type = 'DisruptionTarget';
  const verdict = { type, status: 'True', reason: 'DeletionByPodGC', message };
  return withPodCondition(pod.status.conditions, verdict, now);
}

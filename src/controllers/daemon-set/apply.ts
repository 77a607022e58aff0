// Creates and deletes the pods of a daemon set.
import { createPod, deletePod, type PodTask } from '../../client/apply-pods.ts';
import { slowStart } from '../../client/slow-start.ts';
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import { objectKey } from '../../meta/object.ts';
import { daemonPod } from './daemon-pod.ts';
import type { DaemonPlan, EndedPod } from './desired.ts';

/** Upstream's burstReplicas: the limit of creations, and of deletions, in one sync. */
const burst = 250;

type DaemonTask = PodTask & { readonly owner: DaemonSet; readonly hash: string };

/** Returns the first failure; completed changes stay. */
export async function applyDaemonPlan(
  task: DaemonTask,
  plan: DaemonPlan,
): Promise<string | undefined> {
  const { owner, hash } = task;
  for (const ended of plan.ended) recordEnded(task, ended);
  const nodes = plan.create.slice(0, burst);
  for (const size of slowStart(nodes.length)) {
    const batch = nodes.splice(0, size);
    const failure = await first(batch.map((node) => createPod(task, daemonPod(owner, node, hash))));
    if (failure !== undefined) return failure;
  }
  return first(plan.delete.slice(0, burst).map((pod) => deletePod(task, pod)));
}

async function first(
  attempts: readonly Promise<string | undefined>[],
): Promise<string | undefined> {
  return (await Promise.all(attempts)).find((message) => message !== undefined);
}

function recordEnded({ recorder, owner }: DaemonTask, { pod, node }: EndedPod): void {
  const hasFailed = pod.status.phase === 'Failed';
  const [outcome, what] = hasFailed ? ['failed', 'kill'] : ['succeeded', 'delete'];
  recorder.record(owner, {
    type: hasFailed ? 'Warning' : 'Normal',
    reason: hasFailed ? 'FailedDaemonPod' : 'SucceededDaemonPod',
    message: `Found ${outcome} daemon pod ${objectKey(pod.metadata)} on node ${node}, will try to ${what} it`,
  });
}

// When a pod is evicted: at once, after the toleration seconds of the node's taints, or never. Upstream:
// pkg/controller/tainteviction.
import type { Node, Taint } from '../../kinds/node/types.ts';
import { tolerationOf } from '../../kinds/pod/tolerations.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { parseTime } from '../../schema/time.ts';

export type EvictionSituation = {
  readonly pod: Pod;
  /** Taints of the node. */
  readonly taints: readonly Taint[];
  /** When a taint was first observed, for taints without timeAdded. */
  readonly seenMs: (taint: Taint) => number;
};

/** NoExecute taints. */
export function evictingTaints(node: Pick<Node, 'spec'> | undefined): readonly Taint[] {
  return (node?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/** Milliseconds since 1970; undefined when the pod stays. */
export function evictionTime({ pod, taints, seenMs }: EvictionSituation): number | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const times = taints.map((taint) => leavesAt(pod, taint, seenMs));
  const first = Math.min(...times);
  return Number.isFinite(first) ? first : undefined;
}

/** A pod that is newer than the taint tolerates it from its own creation. */
function leavesAt(pod: Pod, taint: Taint, seenMs: (taint: Taint) => number): number {
  const toleration = tolerationOf(pod, taint);
  if (toleration === undefined) return 0;
  const { tolerationSeconds } = toleration;
  if (tolerationSeconds === undefined) return Number.POSITIVE_INFINITY;
  const addedMs = (taint.timeAdded && parseTime(taint.timeAdded)) || seenMs(taint);
  const { startTime } = pod.status;
  const startedMs = parseTime(startTime ?? pod.metadata.creationTimestamp ?? '') ?? 0;
  return Math.max(addedMs, startedMs) + Math.max(0, tolerationSeconds) * 1000;
}

// What happens to a node whose kubelet stops reporting, and when it reports again. Upstream:
// pkg/controller/nodelifecycle.
import { nodeCondition } from '../../kinds/node/readiness.ts';
import type { Node, NodeCondition } from '../../kinds/node/types.ts';
import type { PodCondition } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { formatTime } from '../../schema/time.ts';

const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const neverPosted = 'NodeStatusNeverUpdated';
const stoppedPosting = 'NodeStatusUnknown';

export type NodeSituation = {
  readonly node: Node;
  /** Time of the last lease renewal or status report; the creation time when there was none. */
  readonly observedMs: number;
  /** --node-monitor-grace-period. */
  readonly monitorGraceMs: number;
  /** --node-startup-grace-period: for nodes that have never reported. */
  readonly startupGraceMs: number;
  readonly now: number;
};

export type NodeVerdict =
  /** The node is healthy; check again after this time. */
  | { readonly action: 'wait'; readonly ms: number }
  | { readonly action: 'none' }
  | { readonly action: 'write'; readonly conditions: readonly NodeCondition[] };

export function judgeNode(situation: NodeSituation): NodeVerdict {
  const { node, observedMs, monitorGraceMs, startupGraceMs, now } = situation;
  const graceMs = nodeCondition(node, 'Ready') === undefined ? startupGraceMs : monitorGraceMs;
  const remainingMs = observedMs + graceMs - now;
  if (remainingMs > 0) return { action: 'wait', ms: remainingMs };
  const before = node.status.conditions ?? [];
  const conditions = [
    ...before.map((condition) =>
      reported.includes(condition.type) ? withUnknownStatus(condition, now) : condition,
    ),
    ...reported
      .filter((type) => nodeCondition(node, type) === undefined)
      .map((type) => unobserved(node, type, now)),
  ];
  return deepEqual(conditions, before) ? { action: 'none' } : { action: 'write', conditions };
}

function withUnknownStatus(condition: NodeCondition, now: number): NodeCondition {
  if (condition.status === 'Unknown') return condition;
  return {
    ...condition,
    status: 'Unknown',
    reason: stoppedPosting,
    message: 'Kubelet stopped posting node status.',
    lastTransitionTime: formatTime(now),
  };
}

function unobserved({ metadata }: Node, type: string, now: number): NodeCondition {
  return {
    type,
    status: 'Unknown',
    reason: neverPosted,
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: metadata.creationTimestamp ?? null,
    lastTransitionTime: formatTime(now),
  };
}

/** The node was healthy and stopped reporting: its pods may still run. */
export function hasStoppedReporting(node: Node): boolean {
  const ready = nodeCondition(node, 'Ready');
  return ready?.status === 'Unknown' && ready.reason === stoppedPosting;
}

/** The condition that takes a pod out of endpoints; undefined when it is already set. */
export function notReady({ status }: Pod, now: number): PodCondition | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  return { ...ready, status: 'False', lastTransitionTime: formatTime(now) };
}

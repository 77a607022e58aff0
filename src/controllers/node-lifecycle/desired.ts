// What becomes of a node whose agent has fallen silent, and of one that is heard again.
// Upstream: pkg/controller/nodelifecycle.
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
  /** When its agent was last heard of; the creation of the node when never. */
  readonly observedMs: number;
  /** How long an agent may be silent. */
  readonly silenceMs: number;
  /** The same for one that has never reported. */
  readonly startupMs: number;
  readonly now: number;
};

export type NodeVerdict =
  /** All is as it should be; look again when this time has passed. */
  | { readonly action: 'wait'; readonly ms: number }
  | { readonly action: 'none' }
  | { readonly action: 'write'; readonly conditions: readonly NodeCondition[] };

export function judgeNode(situation: NodeSituation): NodeVerdict {
  const { node, observedMs, silenceMs, startupMs, now } = situation;
  const graceMs = nodeCondition(node, 'Ready') === undefined ? startupMs : silenceMs;
  const left = observedMs + graceMs - now;
  if (left > 0) return { action: 'wait', ms: left };
  const before = node.status.conditions ?? [];
  const conditions = [
    ...before.map((condition) =>
      reported.includes(condition.type) ? lost(condition, now) : condition,
    ),
    ...reported
      .filter((type) => nodeCondition(node, type) === undefined)
      .map((type) => unobserved(node, type, now)),
  ];
  return deepEqual(conditions, before) ? { action: 'none' } : { action: 'write', conditions };
}

function lost(condition: NodeCondition, now: number): NodeCondition {
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

/** The agent was there and went: its pods run without anybody who could tell. */
export function isSilent(node: Node): boolean {
  const ready = nodeCondition(node, 'Ready');
  return ready?.status === 'Unknown' && ready.reason === stoppedPosting;
}

/** The condition with which a pod on a lost node leaves the endpoints; undefined when it has left already. */
export function notReady({ status }: Pod, now: number): PodCondition | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  return { ...ready, status: 'False', lastTransitionTime: formatTime(now) };
}

// The taints that keep pods away from a node, as its conditions ask for them.
import { nodeCondition } from '../../kinds/node/readiness.ts';
import type { Node, Taint } from '../../kinds/node/types.ts';
import {
  notReadyTaint,
  unreachableTaint,
  unschedulableTaint,
} from '../../meta/well-known-taints.ts';
import { formatTime } from '../../schema/time.ts';

/** Condition, and which status of it makes which taint. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReadyTaint, Unknown: unreachableTaint },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};

const ofScheduling = new Set([
  unschedulableTaint,
  ...Object.values(byCondition).flatMap((statuses) => Object.values(statuses)),
]);
const ofExecution = new Set([notReadyTaint, unreachableTaint]);

export type TaintSituation = {
  readonly node: Node;
  /** Whether any node of the cluster is ready. */
  readonly hasReadyNode: boolean;
  readonly now: number;
};

/**
 * The same list when nothing changes. A node that nobody has reported on is left as it was made: whoever made it
 * by hand chose its taints. When no node at all is ready, it is more likely that we are cut off than that all of
 * them have failed, and there is nowhere else to run: then no pod is driven out.
 */
export function desiredTaints({ node, hasReadyNode, now }: TaintSituation): readonly Taint[] {
  const before = node.spec.taints ?? [];
  const ready = nodeCondition(node, 'Ready');
  if (!ready?.lastHeartbeatTime) return before;
  const wanted = [
    ...schedulingKeys(node).map((key) => ({ key, effect: 'NoSchedule' })),
    ...(hasReadyNode ? executionKeys(ready.status) : []).map((key) => ({
      key,
      effect: 'NoExecute',
    })),
  ];
  const isOurs = ({ key, effect }: Taint): boolean =>
    (effect === 'NoSchedule' && ofScheduling.has(key)) ||
    (effect === 'NoExecute' && ofExecution.has(key));
  const isSame =
    (a: Pick<Taint, 'key' | 'effect'>) =>
    (b: Pick<Taint, 'key' | 'effect'>): boolean =>
      a.key === b.key && a.effect === b.effect;
  const kept = before.filter((taint) => !isOurs(taint) || wanted.some(isSame(taint)));
  const added = wanted.filter((taint) => !before.some(isSame(taint)));
  if (kept.length === before.length && added.length === 0) return before;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: formatTime(now) }))];
}

function schedulingKeys({ spec, status }: Node): readonly string[] {
  const keys = (status.conditions ?? []).flatMap(
    (condition) => byCondition[condition.type]?.[condition.status] ?? [],
  );
  return spec.unschedulable === true ? [...keys, unschedulableTaint] : keys;
}

function executionKeys(ready: string): readonly string[] {
  const key = byCondition.Ready?.[ready];
  return key === undefined ? [] : [key];
}

// Taints that follow from the conditions of a node.
import { nodeCondition } from '../../kinds/node/readiness.ts';
import type { Node, Taint } from '../../kinds/node/types.ts';
import {
  diskPressureTaint,
  memoryPressureTaint,
  networkUnavailableTaint,
  notReadyTaint,
  pidPressureTaint,
  unreachableTaint,
  unschedulableTaint,
} from '../../meta/well-known-taints.ts';
import { formatTime, parseTime } from '../../schema/time.ts';

/** Condition type → status → taint. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReadyTaint, Unknown: unreachableTaint },
  MemoryPressure: { True: memoryPressureTaint },
  DiskPressure: { True: diskPressureTaint },
  NetworkUnavailable: { True: networkUnavailableTaint },
  PIDPressure: { True: pidPressureTaint },
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

/** The first report of a kubelet follows its node within this time; until then no pod belongs there. */
const registrationMs = 3000;

/** Until a node without conditions counts as one without a kubelet; undefined: it has conditions, or has waited long enough. */
export function registersForMs({ metadata, status }: Node, now: number): number | undefined {
  if ((status.conditions ?? []).length > 0) return undefined;
  const leftMs = (parseTime(metadata.creationTimestamp ?? '') ?? 0) + registrationMs - now;
  return leftMs > 0 ? leftMs : undefined;
}

/**
 * The same list when nothing changes. A node without conditions is free of the taint that it was created with after a moment, as
 * upstream's is: its kubelet registers it with conditions. When no node is ready, the network has probably failed, not all nodes, and pods
 * could not run elsewhere: nothing is evicted then.
 */
export function desiredTaints({ node, hasReadyNode, now }: TaintSituation): readonly Taint[] {
  const before = node.spec.taints ?? [];
  if (registersForMs(node, now) !== undefined) return before;
  const ready = nodeCondition(node, 'Ready');
  const wanted = [
    ...schedulingKeys(node).map((key) => ({ key, effect: 'NoSchedule' })),
    ...(hasReadyNode ? executionKeys(ready?.status) : []).map((key) => ({
      key,
      effect: 'NoExecute',
    })),
  ];
  const isManaged = ({ key, effect }: Taint): boolean =>
    (effect === 'NoSchedule' && ofScheduling.has(key)) ||
    (effect === 'NoExecute' && ready !== undefined && ofExecution.has(key));
  const isSame =
    (a: Pick<Taint, 'key' | 'effect'>) =>
    (b: Pick<Taint, 'key' | 'effect'>): boolean =>
      a.key === b.key && a.effect === b.effect;
  const retained = before.filter((taint) => !isManaged(taint) || wanted.some(isSame(taint)));
  const added = wanted.filter((taint) => !before.some(isSame(taint)));
  if (retained.length === before.length && added.length === 0) return before;
  return [...retained, ...added.map((taint) => ({ ...taint, timeAdded: formatTime(now) }))];
}

function schedulingKeys({ spec, status }: Node): readonly string[] {
  const keys = (status.conditions ?? []).flatMap(
    (condition) => byCondition[condition.type]?.[condition.status] ?? [],
  );
  return spec.unschedulable === true ? [...keys, unschedulableTaint] : keys;
}

function executionKeys(ready = ''): readonly string[] {
  const key = byCondition.Ready?.[ready];
  return key === undefined ? [] : [key];
}

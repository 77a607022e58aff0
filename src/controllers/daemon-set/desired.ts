// Which pods of a daemon set to create and to delete. Upstream: manage() and podsShouldBeOnNode() in pkg/controller/daemon.
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { availableIn, isPodFinished, isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { scaledValue } from '../../schema/int-or-string.ts';
import { isUpdated, nodeOf } from './daemon-pod.ts';
import { fitOfNode } from './node-fit.ts';
import { planRollingUpdate } from './rolling-update.ts';

export type DaemonSituation = {
  readonly set: DaemonSet;
  /** All that belong to the set. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** Of the current revision. */
  readonly hash: string;
  /** Milliseconds for which the failed pod of a node is left alone; 0: it is deleted now. */
  readonly backOffOf: (node: string) => number;
  readonly now: number;
};

export type EndedPod = { readonly pod: Pod; readonly node: string };

export type DaemonPlan = {
  /** Nodes, by name. */
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  /** Pods among the deleted that have failed or succeeded. */
  readonly ended: readonly EndedPod[];
  /** When a back-off ends. */
  readonly retryAfterMs?: number;
};

export function planDaemonSet(situation: DaemonSituation): DaemonPlan {
  const plan = planMissingAndSurplus(situation);
  const isSettled = plan.create.length + plan.delete.length === 0;
  if (!isSettled || situation.set.spec.updateStrategy.type !== 'RollingUpdate') return plan;
  return { ...plan, ...planRollingUpdate(situation, podsByNode(situation.pods)) };
}

/** Pods that are being deleted and have finished hold no node. */
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = nodeOf(pod);
    if (node === undefined) continue;
    if (isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined) continue;
    const others = byNode.get(node);
    if (others === undefined) byNode.set(node, [pod]);
    else others.push(pod);
  }
  return byNode;
}

function planMissingAndSurplus(situation: DaemonSituation): DaemonPlan {
  const { set, nodes, pods } = situation;
  const byNode = podsByNode(pods);
  const plans = nodes.map((node) =>
    planNode(situation, node, byNode.get(node.metadata.name ?? '') ?? []),
  );
  const waits = plans.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const strayed = pods.filter(
    (pod) => !pod.spec.nodeName && isPresent(pod) && !names.has(nodeOf(pod) ?? ''),
  );
  return {
    create:
      set.metadata.deletionTimestamp === undefined ? plans.flatMap(({ create }) => create) : [],
    delete: [...plans.flatMap((plan) => plan.delete), ...strayed],
    ended: plans.flatMap(({ ended }) => ended),
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.min(...waits) }),
  };
}

const nothing: DaemonPlan = { create: [], delete: [], ended: [] };

const isPresent = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined;

function planNode(situation: DaemonSituation, node: Node, pods: readonly Pod[]): DaemonPlan {
  const { set, backOffOf } = situation;
  const { name = '' } = node.metadata;
  const { shouldRun, mayStay } = fitOfNode(set, node);
  if (!mayStay) return { ...nothing, delete: pods.filter(isPresent) };
  if (pods.length === 0) return { ...nothing, create: shouldRun ? [name] : [] };
  const present = pods.filter(isPresent);
  const ended = present.filter(isPodFinished);
  const waitMs = backOffOf(name);
  const isHeld = ({ status }: Pod): boolean => status.phase === 'Failed' && waitMs > 0;
  const removed = ended.filter((pod) => !isHeld(pod));
  const running = present.filter((pod) => !isPodFinished(pod)).sort(byAge);
  const surplus = allowsSurge(set) ? surplusOfSurge(situation, running) : running.slice(1);
  const isWaiting = ended.some(isHeld);
  const isEmpty = allowsSurge(set) && running.length === 0 && shouldRun && !isWaiting;
  return {
    create: isEmpty ? [name] : [],
    delete: [...removed, ...surplus],
    ended: removed.map((pod) => ({ pod, node: name })),
    ...(isWaiting ? { retryAfterMs: waitMs } : {}),
  };
}

function allowsSurge({ spec }: DaemonSet): boolean {
  const { type, rollingUpdate } = spec.updateStrategy;
  return type === 'RollingUpdate' && scaledValue(rollingUpdate?.maxSurge ?? 0, 100, true) !== 0;
}

/** An old pod may stay beside a new one while it is ready and the new one is not available yet. */
function surplusOfSurge(
  { set, hash, now }: DaemonSituation,
  running: readonly Pod[],
): readonly Pod[] {
  if (running.length <= 1) return [];
  const isNew = (pod: Pod): boolean => isUpdated(pod, set, hash);
  const newPod = running.find(isNew);
  const oldPod = running.find((pod) => !isNew(pod));
  const surplus = running.filter((pod) => pod !== newPod && pod !== oldPod);
  if (newPod === undefined || oldPod === undefined) return surplus;
  const isReplaced =
    !isPodReady(oldPod) || availableIn(newPod, set.spec.minReadySeconds ?? 0, now) === 0;
  return isReplaced ? [...surplus, oldPod] : surplus;
}

/** Pods on a node first, then the oldest. */
export function byAge(a: Pod, b: Pod): number {
  const bound = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName));
  if (bound !== 0) return bound;
  const [first = '', second = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

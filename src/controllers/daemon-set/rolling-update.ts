// Which pods of old templates are replaced now. Upstream: rollingUpdate() in pkg/controller/daemon.
import type { DaemonSet } from '../../kinds/daemon-set/types.ts';
import { availableIn } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { scaledValue } from '../../schema/int-or-string.ts';
import { isUpdated } from './daemon-pod.ts';
import type { DaemonPlan, DaemonSituation } from './desired.ts';
import { fitOfNode } from './node-fit.ts';

type Replacement = Pick<DaemonPlan, 'create' | 'delete'>;

/** The pods of a node that are not being deleted. `isUnclear`: there are several of one kind. */
type NodePods = {
  readonly node: string;
  readonly newPod?: Pod;
  readonly oldPod?: Pod;
  readonly isUnclear: boolean;
};

export function planRollingUpdate(
  situation: DaemonSituation,
  byNode: ReadonlyMap<string, readonly Pod[]>,
): Replacement {
  const { set, nodes } = situation;
  const wanted = nodes
    .filter((node) => fitOfNode(set, node).shouldRun)
    .map(({ metadata }) => metadata.name ?? '');
  const names = new Set([...byNode.keys(), ...wanted]);
  const all = [...names].map((node) => podsOn(situation, node, byNode.get(node) ?? []));
  const { maxSurge, maxUnavailable } = limits(set, wanted.length);
  return maxSurge === 0
    ? replaceWithin(situation, all, maxUnavailable)
    : surgeWithin(situation, all, { maxSurge, wanted: new Set(wanted) });
}

function limits(
  { spec }: DaemonSet,
  wanted: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { maxSurge = 0, maxUnavailable = 1 } = spec.updateStrategy.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, wanted, true);
  const unavailable = scaledValue(maxUnavailable, wanted, true);
  // Neither would stop the rollout.
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function podsOn({ set, hash }: DaemonSituation, node: string, pods: readonly Pod[]): NodePods {
  const present = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const updated = present.filter((pod) => isUpdated(pod, set, hash));
  const old = present.filter((pod) => !updated.includes(pod));
  const [newPod] = updated;
  const [oldPod] = old;
  return {
    node,
    ...(newPod === undefined ? {} : { newPod }),
    ...(oldPod === undefined ? {} : { oldPod }),
    isUnclear: updated.length > 1 || old.length > 1,
  };
}

const isAvailable = ({ set, now }: DaemonSituation, pod: Pod): boolean =>
  availableIn(pod, set.spec.minReadySeconds ?? 0, now) === 0;

/** Deletes old pods; new ones are made once they have gone. Pods that are not available are replaced beyond the limit. */
function replaceWithin(
  situation: DaemonSituation,
  all: readonly NodePods[],
  maxUnavailable: number,
): Replacement {
  let unavailable = 0;
  const replaced: Pod[] = [];
  const candidates: Pod[] = [];
  for (const { newPod, oldPod, isUnclear } of all) {
    const isOne = (newPod === undefined) !== (oldPod === undefined);
    if (isUnclear || !isOne) unavailable += 1;
    else if (newPod !== undefined) unavailable += isAvailable(situation, newPod) ? 0 : 1;
    else if (oldPod !== undefined)
      (isAvailable(situation, oldPod) ? candidates : replaced).push(oldPod);
  }
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], delete: [...replaced, ...candidates.slice(0, allowed)] };
}

/** What a surge does on one node. */
type SurgeStep = 'none' | 'surging' | 'remove' | 'replace' | 'candidate';

/** Creates new pods beside old ones, which go when the new ones are available. */
function surgeWithin(
  situation: DaemonSituation,
  all: readonly NodePods[],
  { maxSurge, wanted }: { readonly maxSurge: number; readonly wanted: ReadonlySet<string> },
): Replacement {
  const steps = all.map((pods) => ({
    pods,
    step: surgeStep(situation, pods, wanted.has(pods.node)),
  }));
  const at = (step: SurgeStep): readonly NodePods[] =>
    steps.filter((one) => one.step === step).map(({ pods }) => pods);
  const allowed = Math.max(0, maxSurge - at('surging').length);
  const created = [...at('replace'), ...at('candidate').slice(0, allowed)];
  return {
    create: created.map(({ node }) => node),
    delete: at('remove').flatMap(({ oldPod }) => oldPod ?? []),
  };
}

function surgeStep(
  situation: DaemonSituation,
  { newPod, oldPod, isUnclear }: NodePods,
  isWanted: boolean,
): SurgeStep {
  if (isUnclear) return 'surging';
  if (oldPod === undefined) return 'none';
  const isOldAvailable = isAvailable(situation, oldPod);
  if (newPod !== undefined)
    return !isOldAvailable || isAvailable(situation, newPod) ? 'remove' : 'surging';
  if (!isWanted) return 'remove';
  return isOldAvailable ? 'candidate' : 'replace';
}

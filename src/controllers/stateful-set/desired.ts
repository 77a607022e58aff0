// What to do next with the pods of a stateful set. Upstream: updateStatefulSet() in pkg/controller/statefulset.
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  claimName,
  isInRange,
  replicasOf,
  startOrdinal,
} from '../../kinds/stateful-set/members.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import { desiredOwners, isStale } from './claims.ts';
import {
  conforming,
  isLeaving,
  isRunningAndAvailable,
  isRunningAndReady,
  memberPod,
  ordinalOf,
  revisionOf,
  type Version,
} from './member-pod.ts';

export type StatefulSituation = {
  readonly set: StatefulSet;
  /** Its members. */
  readonly pods: readonly Pod[];
  /** Pods below the partition are made of the current version, all others of the update. */
  readonly current: Version;
  readonly update: Version;
  readonly claimNamed: (name: string) => PersistentVolumeClaim | undefined;
  readonly now: number;
};

export type PodAction =
  /** With the claims that it mounts. */
  | { readonly action: 'create'; readonly pod: Pod }
  | { readonly action: 'delete'; readonly pod: Pod }
  /** To what it is now, because it lacks labels or volumes of its identity. */
  | { readonly action: 'update'; readonly pod: Pod }
  /** Creates missing claims and sets the owners of all. */
  | { readonly action: 'claims'; readonly pod: Pod }
  /** Sets the owners of claims that are there. */
  | { readonly action: 'owners'; readonly pod: Pod };

export type StatefulPlan = {
  /** Each begins when all actions of the one before have succeeded. */
  readonly phases: readonly (readonly PodAction[])[];
  /** A claim of a former pod is on its way out. */
  readonly isWaitingForClaims: boolean;
};

/** The limit of creations in one sync, and of the ordinals that are looked at: a set may want 2^31 pods. */
const burst = 500;

export function planStatefulSet(situation: StatefulSituation): StatefulPlan {
  const { set } = situation;
  const { actions, isBlocked, isWaitingForClaims, members } = planReplicas(situation);
  if (isBlocked) return { phases: [actions], isWaitingForClaims };
  const condemned = situation.pods
    .filter((pod) => !isInRange(set, ordinalOf(pod)))
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  const owners = condemned.flatMap((pod) => ownerActions(situation, pod));
  const scaling = planCondemned(situation, condemned);
  const phases = [actions, owners, scaling.actions];
  if (scaling.isBlocked) return { phases, isWaitingForClaims };
  return { phases: [...phases, planUpdate(situation, members)], isWaitingForClaims };
}

type Step = { readonly actions: readonly PodAction[]; readonly isBlocked: boolean };

const isOrdered = ({ spec }: StatefulSet): boolean => spec.podManagementPolicy !== 'Parallel';

/** Every ordinal in the range, ascending. With OrderedReady each waits for the one before. */
function planReplicas(situation: StatefulSituation): {
  readonly actions: PodAction[];
  readonly isBlocked: boolean;
  readonly isWaitingForClaims: boolean;
  /** By position; undefined where there is none yet. */
  readonly members: readonly (Pod | undefined)[];
} {
  const { set, pods } = situation;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const start = startOrdinal(set);
  const actions: PodAction[] = [];
  const members: (Pod | undefined)[] = [];
  let isWaitingForClaims = false;
  for (let ordinal = start; ordinal < start + replicasOf(set); ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    const step = pod === undefined ? planMissing(situation, ordinal) : planMember(situation, pod);
    actions.push(...step.actions);
    members.push(pod);
    const isStuck = pod === undefined && step.actions.length === 0;
    isWaitingForClaims ||= isStuck;
    const isFull = actions.length >= burst;
    if (isFull || (isOrdered(set) && step.isBlocked))
      return { actions, members, isWaitingForClaims, isBlocked: true };
  }
  return { actions, members, isWaitingForClaims, isBlocked: false };
}

function planMissing(situation: StatefulSituation, ordinal: number): Step {
  const { set, claimNamed } = situation;
  const pod = memberPod(set, ordinal, versionFor(situation, ordinal));
  const hasStaleClaim = (set.spec.volumeClaimTemplates ?? []).some((template) => {
    const claim = claimNamed(claimName(template, set, ordinal));
    return claim !== undefined && isStale(claim, { set, pod });
  });
  return { actions: hasStaleClaim ? [] : [{ action: 'create', pod }], isBlocked: true };
}

/** Which template a pod is made of that was deleted meanwhile. */
function versionFor({ set, current, update }: StatefulSituation, ordinal: number): Version {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type !== 'RollingUpdate') return update;
  const held = rollingUpdate?.partition ?? set.status.currentReplicas ?? 0;
  return ordinal < startOrdinal(set) + held ? current : update;
}

function planMember(situation: StatefulSituation, pod: Pod): Step {
  const { set, now } = situation;
  // Pods that were evicted may count as succeeded: the exit code of their containers decides.
  if (isPodFinished(pod))
    return { actions: isLeaving(pod) ? [] : [{ action: 'delete', pod }], isBlocked: true };
  const claims = claimActions(situation, pod);
  const isWaiting = isLeaving(pod) || !isRunningAndAvailable(pod, set, now);
  if (isOrdered(set) && isWaiting) return { actions: claims, isBlocked: true };
  const after = conforming(set, pod);
  if (after !== pod)
    return { actions: [...claims, { action: 'update', pod: after }], isBlocked: false };
  return {
    actions: claims.length > 0 ? claims : ownerActions(situation, pod),
    isBlocked: false,
  };
}

/** Claims that a pod waits for are made again when they were deleted. */
function claimActions({ set, claimNamed }: StatefulSituation, pod: Pod): readonly PodAction[] {
  const isMissing = (set.spec.volumeClaimTemplates ?? []).some(
    (template) => claimNamed(claimName(template, set, ordinalOf(pod))) === undefined,
  );
  return pod.status.phase === 'Pending' && isMissing ? [{ action: 'claims', pod }] : [];
}

function ownerActions({ set, claimNamed }: StatefulSituation, pod: Pod): readonly PodAction[] {
  const isWrong = (set.spec.volumeClaimTemplates ?? []).some((template) => {
    const claim = claimNamed(claimName(template, set, ordinalOf(pod)));
    return claim !== undefined && desiredOwners(claim, { set, pod }) !== undefined;
  });
  return isWrong ? [{ action: 'owners', pod }] : [];
}

/** Pods out of the range go from the highest ordinal; with OrderedReady one at a time, and none while another is unhealthy. */
function planCondemned(situation: StatefulSituation, condemned: readonly Pod[]): Step {
  const { set, now } = situation;
  const present = condemned.filter((pod) => !isLeaving(pod));
  if (!isOrdered(set))
    return { actions: present.map((pod) => ({ action: 'delete', pod })), isBlocked: false };
  const [highest] = condemned;
  if (highest === undefined) return { actions: [], isBlocked: false };
  const isHealthy = (pod: Pod): boolean => isRunningAndAvailable(pod, set, now) && !isLeaving(pod);
  const firstUnhealthy = condemned.findLast((pod) => !isHealthy(pod));
  const isHeld = isLeaving(highest) || (!isHealthy(highest) && highest !== firstUnhealthy);
  return { actions: isHeld ? [] : [{ action: 'delete', pod: highest }], isBlocked: true };
}

/** The highest ordinal that is not of the update goes, when all above it are available. */
function planUpdate(
  { set, update, now }: StatefulSituation,
  members: readonly (Pod | undefined)[],
): PodAction[] {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type === 'OnDelete') return [];
  for (let at = members.length - 1; at >= (rollingUpdate?.partition ?? 0); at -= 1) {
    const pod = members[at];
    if (pod === undefined) return [];
    if (revisionOf(pod) !== update.revision && !isLeaving(pod))
      return isPodFinished(pod) ? [] : [{ action: 'delete', pod }];
    if (isLeaving(pod) || !isRunningAndReady(pod) || !isRunningAndAvailable(pod, set, now))
      return [];
  }
  return [];
}

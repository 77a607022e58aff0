// Volumes of a pod: whether it can run at all, on which nodes, and what is to be bound or made when a node is chosen.
// Upstream: the plugins VolumeBinding and VolumeRestrictions.
import type { Node } from '../../kinds/node/types.ts';
import {
  boundByControllerAnnotation,
  selectedNodeAnnotation,
  waitsForConsumer,
} from '../../kinds/persistent-volume/binding.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { oncePod } from '../../kinds/persistent-volume-claim/access-modes.ts';
import { classOfClaim } from '../../kinds/persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { claimOfVolume } from '../../kinds/pod/claim-index.ts';
import { matchesTerm } from '../../kinds/pod/node-selection.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import { goQuote } from '../../schema/go-quote.ts';

export type VolumeWorld = {
  /** By `namespace/name`. */
  readonly claimOf: (key: string) => PersistentVolumeClaim | undefined;
  readonly volumeOf: (name: string) => PersistentVolume | undefined;
  readonly classOf: (name: string) => StorageClass | undefined;
  /** The smallest free volume for the claim. */
  readonly freeVolume: (
    claim: PersistentVolumeClaim,
    fits: (volume: PersistentVolume) => boolean,
  ) => PersistentVolume | undefined;
  /** Pods on nodes that use the claim. */
  readonly usersOf: (claimKey: string) => readonly Pod[];
};

/** Why no node can run the pod yet; upstream's words. */
export function claimProblem(pod: Pod, world: VolumeWorld): string | undefined {
  const used = claimsOf(pod, world);
  for (const one of used) {
    const problem = problemOf(one, pod);
    if (problem !== undefined) return problem;
  }
  const isUnbound = ({ claim }: UsedClaim): boolean =>
    claim !== undefined && !isBound(claim) && !isDelayed(claim, world);
  return used.some(isUnbound) ? 'pod has unbound immediate PersistentVolumeClaims' : undefined;
}

/** Whether the binding of a claim, which began when the pod was scheduled, is not complete yet. */
export const isBinding = (pod: Pod, world: VolumeWorld): boolean =>
  claimsOf(pod, world).some(
    ({ claim }) =>
      claim?.status.phase === 'Pending' &&
      Boolean(claim.spec.volumeName) &&
      claim.metadata.annotations?.[boundByControllerAnnotation] !== undefined,
  );

function problemOf({ name, claim, isEphemeral }: UsedClaim, pod: Pod): string | undefined {
  const quoted = goQuote(name);
  if (claim === undefined) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`;
  }
  if (isEphemeral && controllerOf(claim)?.uid !== pod.metadata.uid)
    return `PVC ${objectKey(claim.metadata)} was not created for pod ${objectKey(pod.metadata)} (pod is not owner)`;
  if (claim.status.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${goQuote(claim.spec.volumeName ?? '')}`;
  return claim.metadata.deletionTimestamp === undefined
    ? undefined
    : `persistentvolumeclaim ${quoted} is being deleted`;
}

type UsedClaim = {
  readonly name: string;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly isEphemeral: boolean;
};

function claimsOf({ metadata, spec }: Pod, { claimOf }: VolumeWorld): readonly UsedClaim[] {
  return (spec.volumes ?? []).flatMap((volume) => {
    const name = claimOfVolume(metadata.name ?? '', volume);
    if (name === undefined) return [];
    const claim = claimOf(`${metadata.namespace ?? ''}/${name}`);
    return [{ name, claim, isEphemeral: volume.ephemeral !== undefined }];
  });
}

const isBound = ({ spec, status }: PersistentVolumeClaim): boolean =>
  Boolean(spec.volumeName) && status.phase === 'Bound';

const isDelayed = (claim: PersistentVolumeClaim, { classOf }: VolumeWorld): boolean =>
  waitsForConsumer(classOf(classOfClaim(claim))) && !claim.spec.volumeName;

/** Why this node cannot run the pod. */
export function volumeProblem(pod: Pod, node: Node, world: VolumeWorld): string | undefined {
  const used = claimsOf(pod, world).flatMap(({ claim }) => claim ?? []);
  if (used.length === 0) return undefined;
  if (used.some((claim) => isHeldAlone(claim, pod, world)))
    return 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode';
  const taken = new Set<string>();
  for (const claim of used) {
    const problem = isBound(claim)
      ? boundProblem(claim, node, world)
      : findPlan(claim, node, world, taken) === undefined
        ? "node(s) didn't find available persistent volumes to bind"
        : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isHeldAlone(claim: PersistentVolumeClaim, pod: Pod, { usersOf }: VolumeWorld): boolean {
  if (!(claim.spec.accessModes ?? []).includes(oncePod)) return false;
  return usersOf(objectKey(claim.metadata)).some(
    ({ metadata }) => metadata.uid !== pod.metadata.uid,
  );
}

function boundProblem(
  { spec }: PersistentVolumeClaim,
  node: Node,
  { volumeOf }: VolumeWorld,
): string | undefined {
  const volume = volumeOf(spec.volumeName ?? '');
  if (volume === undefined)
    return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
  return reaches(volume, node)
    ? undefined
    : "node(s) didn't match PersistentVolume's node affinity";
}

function reaches({ spec }: PersistentVolume, node: Node): boolean {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || (terms ?? []).some((term) => matchesTerm(term, node));
}

/** What is to be done for an unbound claim. */
export type VolumePlan =
  | { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }
  | { readonly claim: PersistentVolumeClaim; readonly node: string };

/** For the chosen node, which has no volumeProblem(). */
export function planVolumes(
  pod: Pod,
  node: Node | undefined,
  world: VolumeWorld,
): readonly VolumePlan[] {
  if (node === undefined) return [];
  const taken = new Set<string>();
  return claimsOf(pod, world).flatMap(({ claim }) =>
    claim === undefined || isBound(claim) ? [] : (findPlan(claim, node, world, taken) ?? []),
  );
}

const noProvisioner = 'kubernetes.io/no-provisioner';

/** `taken` are the volumes of the pod's other claims. */
function findPlan(
  claim: PersistentVolumeClaim,
  node: Node,
  world: VolumeWorld,
  taken: Set<string>,
): VolumePlan | undefined {
  const name = node.metadata.name ?? '';
  const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
  // Its volume may be in the making: on another node it would be out of reach.
  if (selected !== undefined) return selected === name ? { claim, node: name } : undefined;
  const volume = world.freeVolume(
    claim,
    (one) => reaches(one, node) && !taken.has(one.metadata.name ?? ''),
  );
  if (volume !== undefined) {
    taken.add(volume.metadata.name ?? '');
    return { claim, volume };
  }
  const storage = world.classOf(classOfClaim(claim));
  const isProvided = storage !== undefined && storage.provisioner !== noProvisioner;
  return isProvided && isAllowed(storage, node) ? { claim, node: name } : undefined;
}

function isAllowed({ allowedTopologies = [] }: StorageClass, node: Node): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) =>
      (values ?? []).includes(node.metadata.labels?.[key] ?? ''),
    ),
  );
}

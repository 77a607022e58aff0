// The claims of a pod, and which objects own them so that they go when the retention policy says so. Upstream:
// stateful_set_utils.go in pkg/controller/statefulset.
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { claimName, isInRange } from '../../kinds/stateful-set/members.ts';
import type { StatefulSet } from '../../kinds/stateful-set/types.ts';
import type { KubeObject, OwnerReference } from '../../meta/object.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { ordinalOf } from './member-pod.ts';

/** Those that a pod should have. */
export function claimsOf(set: StatefulSet, pod: Pod): readonly PersistentVolumeClaim[] {
  const { volumeClaimTemplates = [], selector } = set.spec;
  return volumeClaimTemplates.map((template) => ({
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    metadata: {
      ...template.metadata,
      name: claimName(template, set, ordinalOf(pod)),
      namespace: set.metadata.namespace ?? '',
      labels: { ...template.metadata.labels, ...selector?.matchLabels },
    },
    spec: template.spec,
    status: {},
  }));
}

export type ClaimOwners = { readonly set: StatefulSet; readonly pod: Pod };

const isDeleted = (policy: string | undefined): boolean => policy === 'Delete';

/** A claim of an earlier pod of the name, which goes with that pod. */
export function isStale(claim: PersistentVolumeClaim, { set, pod }: ClaimOwners): boolean {
  return (
    isDeleted(set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled) &&
    referencesOf(claim).some((reference) => isFormer(reference, pod))
  );
}

/** Undefined when the claim has the owners that it should have, or is none of the set's business. */
export function desiredOwners(
  claim: PersistentVolumeClaim,
  { set, pod }: ClaimOwners,
): readonly OwnerReference[] | undefined {
  const before = referencesOf(claim);
  const isOurs = (reference: OwnerReference): boolean =>
    refersTo(reference, set) || refersTo(reference, pod);
  if (before.some((reference) => isFormer(reference, set) || isFormer(reference, pod)))
    return undefined;
  const others = before.filter((reference) => !isOurs(reference));
  const owner = wantedOwner(set, pod);
  // Another controller decides about the claim.
  const isForeign = owner !== 'none' && others.some(({ controller }) => controller === true);
  const after =
    isForeign || owner === undefined || owner === 'none' ? [] : [controllerReference(owner)];
  const own = before.filter(isOurs);
  const isSame =
    own.length === after.length &&
    own.every(({ uid, controller }) => uid === after[0]?.uid && controller === true);
  return isSame ? undefined : [...others, ...after];
}

/** `none`: the policy deletes nothing; undefined: it deletes nothing now. */
function wantedOwner(set: StatefulSet, pod: Pod): KubeObject | 'none' | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (!isDeleted(whenDeleted) && !isDeleted(whenScaled)) return 'none';
  const isScaledDown = !isInRange(set, ordinalOf(pod));
  if (isDeleted(whenScaled) && isScaledDown) return pod;
  return isDeleted(whenDeleted) ? set : undefined;
}

const controllerReference = (owner: KubeObject): OwnerReference => ownerReferenceTo(owner);

const referencesOf = ({ metadata }: KubeObject): readonly OwnerReference[] =>
  metadata.ownerReferences ?? [];

const isNamed = ({ kind, name }: OwnerReference, owner: KubeObject): boolean =>
  kind === owner.kind && name === owner.metadata.name;

const refersTo = (reference: OwnerReference, owner: KubeObject): boolean =>
  isNamed(reference, owner) && reference.uid === owner.metadata.uid;

/** An earlier object of the same name. */
const isFormer = (reference: OwnerReference, owner: KubeObject): boolean =>
  isNamed(reference, owner) && reference.uid !== owner.metadata.uid;

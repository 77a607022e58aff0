// Owner references.
import type { KubeObject, OwnerReference } from './object.ts';

/** The reference to the controller of the object, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** A controller reference that blocks the owner's foreground deletion. */
export function ownerReferenceTo(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function isOwnedBy(object: KubeObject, owner: KubeObject): boolean {
  return (
    object.metadata.ownerReferences?.some(({ uid }) => uid !== '' && uid === owner.metadata.uid) ??
    false
  );
}

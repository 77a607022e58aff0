// Who owns an object, and how to say that one object owns another.
import type { KubeObject, OwnerReference } from './object.ts';

/** The owner that manages the object, if there is one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** For objects that a controller makes: it manages them, and they hold up a foreground deletion of it. */
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

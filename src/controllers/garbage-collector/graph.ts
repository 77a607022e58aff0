// Owners and dependents over all objects.
import type { ResourceNames } from '../../client/resource.ts';
import { foregroundFinalizer } from '../../meta/finalizers.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../meta/object.ts';

export type GraphNode = {
  readonly resource: ResourceNames;
  readonly uid: string;
  readonly object: KubeObject;
};

export type Graph = {
  readonly get: (uid: string) => GraphNode | undefined;
  readonly dependentsOf: (uid: string) => readonly GraphNode[];
  /** Returns the previous node of this UID. */
  readonly put: (node: GraphNode) => GraphNode | undefined;
  readonly remove: (uid: string) => GraphNode | undefined;
};

export function createGraph(): Graph {
  const nodes = new Map<string, GraphNode>();
  const dependents = new Map<string, Set<string>>();
  const unlink = (node: GraphNode): void => {
    for (const { uid } of ownersOf(node)) {
      const set = dependents.get(uid);
      set?.delete(node.uid);
      if (set?.size === 0) dependents.delete(uid);
    }
  };
  const remove = (uid: string): GraphNode | undefined => {
    const before = nodes.get(uid);
    if (before === undefined) return undefined;
    unlink(before);
    nodes.delete(uid);
    return before;
  };
  return {
    get: (uid) => nodes.get(uid),
    dependentsOf: (uid) =>
      [...(dependents.get(uid) ?? [])].flatMap((dependent) => nodes.get(dependent) ?? []),
    put(node) {
      const before = remove(node.uid);
      nodes.set(node.uid, node);
      for (const { uid } of ownersOf(node)) {
        const set = dependents.get(uid);
        if (set === undefined) dependents.set(uid, new Set([node.uid]));
        else set.add(node.uid);
      }
      return before;
    },
    remove,
  };
}

export function ownersOf({ object }: GraphNode): readonly OwnerReference[] {
  return object.metadata.ownerReferences ?? [];
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Deleted in the foreground: stays until its dependents are deleted. */
export function waitsForDependents(object: KubeObject): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, foregroundFinalizer);
}

export function hasFinalizer({ metadata }: KubeObject, name: string): boolean {
  return metadata.finalizers?.includes(name) ?? false;
}

/** What the graph keeps of an object; anything else would only use memory. */
export function trimmed<T extends KubeObject>({ kind, apiVersion, metadata }: T): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences, finalizers } =
    metadata;
  const trimmedMetadata: ObjectMeta = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  return { kind, apiVersion, metadata: trimmedMetadata };
}

// Finds pods by their controller in the informers' caches.
import type { Informer } from '../../client/informer.ts';
import {
  byController,
  byNamespace,
  controllerIndex,
  namespaceIndex,
  orphansIn,
} from '../../client/shared-indexes.ts';
import { isActive } from '../../kinds/pod/activity.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { ReplicaOwner } from './replica-owner.ts';

export type ManagedPods = {
  readonly of: (owner: ReplicaOwner) => readonly Pod[];
  readonly orphansIn: (namespace: string) => readonly Pod[];
  /** Active pods of all owners with the same deployment. */
  readonly related: (owner: ReplicaOwner) => readonly Pod[];
  readonly ownersIn: (namespace: string) => readonly string[];
};

export function managedPods<T extends ReplicaOwner>(
  owners: Informer<T>,
  pods: Informer<Pod>,
): ManagedPods {
  pods.addIndex(controllerIndex, byController);
  owners.addIndex(controllerIndex, byController);
  owners.addIndex(namespaceIndex, byNamespace);
  const of = (owner: ReplicaOwner): readonly Pod[] =>
    pods.store.select(controllerIndex, owner.metadata.uid ?? '');
  return {
    of,
    orphansIn: (namespace) => pods.store.select(controllerIndex, orphansIn(namespace)),
    related(owner) {
      const controller = controllerOf(owner)?.uid;
      const peers =
        controller === undefined ? [owner] : owners.store.select(controllerIndex, controller);
      return peers.flatMap((peer) => of(peer)).filter(isActive);
    },
    ownersIn: (namespace) =>
      owners.store.select(namespaceIndex, namespace).map(({ metadata }) => objectKey(metadata)),
  };
}

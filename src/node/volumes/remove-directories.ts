// Deletes the directories of volumes that are deleted. The volume stays, by a finalizer, until its directory is gone: an agent
// that is killed meanwhile continues at its next start.
import type { ApiCaller } from '../../client/api-call.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import type { SharedInformers } from '../../client/shared-informers.ts';
import type { Clock } from '../../host/clock.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import {
  directoryFinalizer,
  isLocalDirectory,
  isOnNode,
  volumesOfNode,
} from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { volumeProtectionFinalizer } from '../../meta/finalizers.ts';
import type { Log } from '../../observe/log.ts';
import { directoryOf } from './run-claims.ts';

export type DirectoryRemoval = {
  readonly caller: ApiCaller;
  readonly informers: SharedInformers;
  readonly node: string;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
};

export function removeDirectories(options: DirectoryRemoval, signal: AbortSignal): Promise<void> {
  const { caller, informers, node, dataDirectory, clock, log } = options;
  const volumes = informers.of(persistentVolumeDefinition, { labelSelector: volumesOfNode(node) });
  const client = resourceClient(caller, persistentVolumeDefinition);
  const reconcile = async (name: string): Promise<undefined> => {
    const volume = volumes.store.get(name);
    if (volume === undefined || !isToRemove(volume, node)) return;
    // With policy Retain the data outlives the volume.
    if (volume.spec.persistentVolumeReclaimPolicy === 'Delete')
      await removeTree(directoryOf(volume, dataDirectory));
    const { uid, resourceVersion, finalizers = [] } = volume.metadata;
    const left = finalizers.filter((one) => one !== directoryFinalizer);
    const patch = { metadata: { uid, resourceVersion, finalizers: left } };
    await client.patch({ name }, patch, { type: 'merge' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    log.info('Removed volume', { volume: name });
  };
  const { queue, ended } = startReconciler(
    { name: 'volume_directories', reconcile, clock, log },
    signal,
  );
  const add = ({ metadata }: PersistentVolume): void => queue.add(metadata.name ?? '');
  const stop = volumes.onChange({ add, update: (_before, after) => add(after) });
  return ended.finally(stop);
}

/** While it is protected it is bound, and in use. */
function isToRemove(volume: PersistentVolume, node: string): boolean {
  const { deletionTimestamp, finalizers = [] } = volume.metadata;
  return (
    isLocalDirectory(volume) &&
    isOnNode(volume, node) &&
    deletionTimestamp !== undefined &&
    finalizers.includes(directoryFinalizer) &&
    !finalizers.includes(volumeProtectionFinalizer)
  );
}

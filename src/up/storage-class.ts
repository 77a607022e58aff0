// The class that claims get in a cluster with nodes: directories of the node on which the pod runs.
import type { ApiCaller } from '../client/api-call.ts';
import { resourceClient } from '../client/rest.ts';
import { localClassName, localProvisioner } from '../kinds/persistent-volume/local-directory.ts';
import { storageClassDefinition } from '../kinds/storage-class/definition.ts';
import type { StorageClass } from '../kinds/storage-class/types.ts';
import { isAlreadyExists } from '../meta/api-error.ts';
import { upManager } from '../meta/field-managers.ts';
import { defaultClassAnnotation } from '../meta/well-known-annotations.ts';

const localClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: localClassName, annotations: { [defaultClassAnnotation]: 'true' } },
  provisioner: localProvisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};

/** Once: what a person changes of it stays so. */
export async function publishStorageClass(caller: ApiCaller): Promise<void> {
  try {
    const options = { fieldManager: upManager };
    await resourceClient(caller, storageClassDefinition).create(localClass, options);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

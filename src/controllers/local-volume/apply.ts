// Creates, expands and deletes volumes of the class `local`.
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import type { ResourceClient } from '../../client/rest.ts';
import type { Node } from '../../kinds/node/types.ts';
import {
  directoryFinalizer,
  isOnNode,
  nodeKey,
} from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { classOfClaim } from '../../kinds/persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { isAlreadyExists } from '../../meta/api-error.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { planVolume, stepOfVolume, wantedSize } from './desired.ts';

/** An index of volumes by their node. */
export const volumeNodeIndex = 'node';

export type StepParts = {
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  readonly nodes: Informer<Node>;
  readonly volumeClient: ResourceClient<PersistentVolume>;
  readonly claimClient: ResourceClient<PersistentVolumeClaim>;
  readonly recorder: EventRecorder;
};

export function createSteps({
  volumes,
  classes,
  nodes,
  volumeClient,
  claimClient,
  recorder,
}: StepParts) {
  async function provision(claim: PersistentVolumeClaim): Promise<void> {
    const storage = classes.store.get(classOfClaim(claim));
    if (storage === undefined) return;
    const plan = planVolume(claim, {
      storage,
      nodeOf: (name) => nodes.store.get(name),
      nodes: () => nodes.store.values(),
      volumesOn: (node) => volumes.store.select(volumeNodeIndex, nodeKey(node)).length,
    });
    if ('wait' in plan) return;
    if ('problem' in plan) {
      const message = `failed to provision volume with StorageClass "${storage.metadata.name}": ${plan.problem}`;
      recorder.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message });
      return;
    }
    const { name = '' } = plan.volume.metadata;
    if (volumes.store.has(name)) return;
    try {
      await volumeClient.create(plan.volume);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return;
    }
    const message = `Successfully provisioned volume ${name}`;
    recorder.record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
  }
  async function expand(claim: PersistentVolumeClaim): Promise<void> {
    const volume = volumes.store.get(claim.spec.volumeName ?? '');
    const storage = wantedSize(claim, volume);
    if (volume === undefined || storage === undefined) return;
    if (compareQuantities(volume.spec.capacity?.storage ?? '0', storage) < 0) {
      const capacity = { ...volume.spec.capacity, storage };
      await volumeClient.update({ ...volume, spec: { ...volume.spec, capacity } });
    }
    const capacity = { ...claim.status.capacity, storage };
    await claimClient.update(
      { ...claim, status: { ...claim.status, capacity } },
      { subresource: 'status' },
    );
    const message = 'Resize volume succeeded';
    recorder.record(claim, { type: 'Normal', reason: 'VolumeResizeSuccessful', message });
  }
  async function reclaim(volume: PersistentVolume): Promise<void> {
    const { name = '', uid = '' } = volume.metadata;
    const hasNode = [...nodes.store.keys()].some((node) => isOnNode(volume, node));
    const step = stepOfVolume(volume, hasNode);
    if (step === 'delete') await volumeClient.delete({ name }, { preconditions: { uid } });
    if (step === 'forget') {
      const finalizers = volume.metadata.finalizers?.filter((one) => one !== directoryFinalizer);
      const metadata = { ...volume.metadata, finalizers: finalizers ?? [] };
      await volumeClient.update({ ...volume, metadata });
    }
  }
  return { provision, expand, reclaim };
}

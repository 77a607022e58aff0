// Says of claims that grow who is to expand their volumes. Upstream: expand-controller, which expands nothing itself but the
// volumes of its own drivers, all of which are gone.
import { createEventRecorder } from '../../client/event-recorder.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { isLocalDirectory } from '../../kinds/persistent-volume/local-directory.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { objectKey } from '../../meta/object.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import type { Controller } from '../controller.ts';

export const volumeExpandController: Controller = {
  name: 'persistentvolume-expander-controller',
  shortName: 'persistentvolume-expander',
  account: 'expand-controller',
  watches: mayWatch(persistentVolumeDefinition, persistentVolumeClaimDefinition),
  rights: [mayRecordEvents],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const volumes = informers.of(persistentVolumeDefinition);
    const claims = informers.of(persistentVolumeClaimDefinition);
    if (!(await waitForSync([volumes, claims], signal))) return;
    const recorder = createEventRecorder({ caller, component: 'volume_expand', clock, log });

    const reconcile = async (key: string): Promise<undefined> => {
      const claim = claims.store.get(key);
      const volume = volumes.store.get(claim?.spec.volumeName ?? '');
      if (claim === undefined || volume === undefined || isLocalDirectory(volume)) return;
      if (volume.spec.csi !== undefined) {
        const message = 'waiting for an external controller to expand this PVC';
        recorder.record(claim, { type: 'Normal', reason: 'ExternalExpanding', message });
        return;
      }
      const message =
        "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC.";
      recorder.record(claim, { type: 'Warning', reason: 'ExternalExpanding', message });
    };
    const { queue, ended } = startReconciler(
      { name: 'volume_expand', reconcile, clock, log, metrics },
      signal,
    );
    const stop = claims.onChange({
      add: (claim) => {
        if (isGrowing(claim)) queue.add(objectKey(claim.metadata));
      },
      update(before, after) {
        const isChanged = sizeOf(before) !== sizeOf(after) || !isGrowing(before);
        if (isChanged && isGrowing(after)) queue.add(objectKey(after.metadata));
      },
    });
    await ended;
    stop();
  },
};

const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec.resources.requests?.storage ?? '0';

const isGrowing = (claim: PersistentVolumeClaim): boolean =>
  claim.status.phase === 'Bound' &&
  compareQuantities(sizeOf(claim), claim.status.capacity?.storage ?? '0') > 0;

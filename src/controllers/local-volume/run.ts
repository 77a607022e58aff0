// Provisions, expands and reclaims volumes that are directories of nodes (provisioner fairlead.dev/local).
import { createEventRecorder } from '../../client/event-recorder.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import {
  isLocalDirectory,
  localProvisioner,
  nodeKey,
  nodeKeyOf,
} from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { storageClassDefinition } from '../../kinds/storage-class/definition.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';
import { createSteps, volumeNodeIndex } from './apply.ts';
import { isToProvision } from './desired.ts';

const concurrency = 16;
const claimPrefix = 'claim ';
const volumePrefix = 'volume ';

export const localVolumeController: Controller = {
  name: 'local-volume-controller',
  account: 'local-volume-provisioner',
  watches: mayWatch(
    persistentVolumeDefinition,
    persistentVolumeClaimDefinition,
    storageClassDefinition,
    nodeDefinition,
  ),
  rights: [
    may('create delete update', persistentVolumeDefinition),
    may('update', persistentVolumeClaimDefinition, { subresource: 'status' }),
    mayRecordEvents,
  ],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const volumes = informers.of(persistentVolumeDefinition);
    const claims = informers.of(persistentVolumeClaimDefinition);
    const classes = informers.of(storageClassDefinition);
    const nodes = informers.of(nodeDefinition);
    volumes.addIndex(volumeNodeIndex, (volume) => {
      const node = nodeKeyOf(volume);
      return node === undefined ? [] : [node];
    });
    if (!(await waitForSync([volumes, claims, classes, nodes], signal))) return;
    const recorder = createEventRecorder({ caller, component: localProvisioner, clock, log });
    const { provision, expand, reclaim } = createSteps({
      ...{ volumes, classes, nodes, recorder },
      volumeClient: resourceClient(caller, persistentVolumeDefinition),
      claimClient: resourceClient(caller, persistentVolumeClaimDefinition),
    });
    const reconcile = async (key: string): Promise<undefined> => {
      if (key.startsWith(claimPrefix)) {
        const claim = claims.store.get(key.slice(claimPrefix.length));
        if (claim !== undefined) await (isToProvision(claim) ? provision : expand)(claim);
        return;
      }
      const volume = volumes.store.get(key.slice(volumePrefix.length));
      if (volume !== undefined) await reclaim(volume).catch(ignoreMissing);
    };
    const { queue, ended } = startReconciler(
      { name: 'local_volumes', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const addClaim = (claim: PersistentVolumeClaim): void => {
      if (isToProvision(claim) || claim.spec.volumeName)
        queue.add(claimPrefix + objectKey(claim.metadata));
    };
    const addVolume = (volume: PersistentVolume): void => {
      if (isLocalDirectory(volume)) queue.add(volumePrefix + (volume.metadata.name ?? ''));
    };
    /** Immediate claims wait for a node. */
    const addUnprovisioned = (): void => {
      for (const claim of claims.store.values()) if (isToProvision(claim)) addClaim(claim);
    };
    const stops = [
      claims.onChange({ add: addClaim, update: (_before, after) => addClaim(after) }),
      volumes.onChange({ add: addVolume, update: (_before, after) => addVolume(after) }),
      nodes.onChange({
        add: addUnprovisioned,
        update(before, after) {
          if (changesProvisioning(before, after)) addUnprovisioned();
        },
        delete({ metadata }) {
          for (const one of volumes.store.select(volumeNodeIndex, nodeKey(metadata.name ?? '')))
            addVolume(one);
        },
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

type NodeObject = KubeObject & { readonly status: { readonly conditions?: readonly object[] } };

/** Not with every heartbeat. */
function changesProvisioning(before: NodeObject, after: NodeObject): boolean {
  const facts = ({ metadata, status }: NodeObject): string =>
    JSON.stringify([
      metadata.annotations,
      metadata.labels,
      (status.conditions ?? []).map((one) => ('status' in one ? one.status : '')),
    ]);
  return facts(before) !== facts(after);
}

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

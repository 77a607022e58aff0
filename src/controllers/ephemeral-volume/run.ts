// Creates the claims of generic ephemeral volumes, which their pods own. Upstream: ephemeral-volume-controller.
import { createEventRecorder } from '../../client/event-recorder.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { podClaim } from '../../kinds/pod/claim-index.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';
import { claimsToMake, isClaimOf } from './desired.ts';

const concurrency = 5;

export const ephemeralVolumeController: Controller = {
  name: 'ephemeral-volume-controller',
  shortName: 'ephemeral-volume',
  account: 'ephemeral-volume-controller',
  watches: mayWatch(podDefinition, persistentVolumeClaimDefinition),
  rights: [may('create', persistentVolumeClaimDefinition), mayOwn(podDefinition), mayRecordEvents],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const pods = informers.of(podDefinition);
    const claims = informers.of(persistentVolumeClaimDefinition);
    if (!(await waitForSync([pods, claims], signal))) return;
    const client = resourceClient(caller, persistentVolumeClaimDefinition);
    const component = 'ephemeral_volume';
    const recorder = createEventRecorder({ caller, component, clock, log });

    const make = async (pod: Pod, wanted: PersistentVolumeClaim): Promise<void> => {
      const found = claims.store.get(objectKey(wanted.metadata));
      if (found !== undefined && isClaimOf(found, pod)) return;
      if (found !== undefined) throw notItsOwn(found, pod);
      try {
        await client.create(wanted);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const message = `ephemeral volume ${wanted.metadata.name ?? ''}: create PVC ${objectKey(wanted.metadata)}: ${why}`;
        recorder.record(pod, { type: 'Warning', reason: 'FailedPVCCreation', message });
        throw error;
      }
    };
    const reconcile = async (key: string): Promise<undefined> => {
      const pod = pods.store.get(key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
      for (const wanted of claimsToMake(pod)) await make(pod, wanted);
    };
    const { queue, ended } = startReconciler(
      { name: 'ephemeral_volume', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const add = (pod: Pod): void => {
      if (claimsToMake(pod).length > 0) queue.add(objectKey(pod.metadata));
    };
    /** A claim that is deleted under its pod is made again. */
    const addOwners = ({ metadata }: KubeObject): void => {
      for (const { kind, name } of metadata.ownerReferences ?? []) {
        const pod = pods.store.get(`${metadata.namespace ?? ''}/${name}`);
        if (kind === 'Pod' && pod && podClaim(pod).includes(objectKey(metadata))) add(pod);
      }
    };
    const stops = [pods.onChange({ add }), claims.onChange({ delete: addOwners })];
    await ended;
    for (const stop of stops) stop();
  },
};

const notItsOwn = (claim: PersistentVolumeClaim, pod: Pod): Error =>
  new Error(
    `PVC ${objectKey(claim.metadata)} was not created for pod ${objectKey(pod.metadata)} (pod is not owner)`,
  );

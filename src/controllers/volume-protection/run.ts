// Removes the finalizers that keep claims and volumes while they are in use. Upstream: pvc-protection-controller and
// pv-protection-controller.
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import { podClaim, podClaimIndex } from '../../kinds/pod/claim-index.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { claimProtectionFinalizer, volumeProtectionFinalizer } from '../../meta/finalizers.ts';
import { type KubeObject, objectKey, withMetadata } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';

/** Upstream adds the finalizer where it is missing, too: the object may be older than the admission plugin. */
function withoutFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const { finalizers = [], ...others } = object.metadata;
  const left = finalizers.filter((one) => one !== finalizer);
  return withMetadata(object, left.length === 0 ? others : { ...others, finalizers: left });
}

function withFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata;
  return withMetadata(object, { ...object.metadata, finalizers: [...finalizers, finalizer] });
}

const hasFinalizer = ({ metadata }: KubeObject, finalizer: string): boolean =>
  (metadata.finalizers ?? []).includes(finalizer);
const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** The object with the finalizer that it should have; undefined where it is so. */
function protectedAs<T extends KubeObject>(
  object: T,
  finalizer: string,
  isUsed: () => boolean,
): T | undefined {
  const isProtected = hasFinalizer(object, finalizer);
  if (!isGoing(object)) return isProtected ? undefined : withFinalizer(object, finalizer);
  return isProtected && !isUsed() ? withoutFinalizer(object, finalizer) : undefined;
}

const concurrency = 5;

export const claimProtectionController: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  shortName: 'pvc-protection',
  account: 'pvc-protection-controller',
  watches: mayWatch(persistentVolumeClaimDefinition, podDefinition),
  rights: [may('list', podDefinition), may('update', persistentVolumeClaimDefinition)],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const claims = informers.of(persistentVolumeClaimDefinition);
    const pods = informers.of(podDefinition);
    const client = resourceClient(caller, persistentVolumeClaimDefinition);
    pods.addIndex(podClaimIndex, podClaim);
    if (!(await waitForSync([claims, pods], signal))) return;

    const reconcile = async (key: string): Promise<undefined> => {
      const claim = claims.store.get(key);
      if (claim === undefined) return;
      const usersOf = (all: readonly Pod[]): readonly Pod[] =>
        all.filter((pod) => isUsing(pod) && podClaim(pod).includes(key));
      const wanted = protectedAs(
        claim,
        claimProtectionFinalizer,
        () => usersOf(pods.store.select(podClaimIndex, key)).length > 0,
      );
      if (wanted === undefined) return;
      if (isGoing(claim)) {
        // A pod that was just bound may not be shown yet.
        const { namespace = '' } = claim.metadata;
        const live = await resourceClient(caller, podDefinition).list({ namespace, signal });
        if (usersOf(live.items).length > 0) return;
      }
      await client.update(wanted).catch(ignoreMissing);
    };
    const { queue, ended } = startReconciler(
      { name: 'pvcprotection', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const add = ({ metadata }: KubeObject): void => queue.add(objectKey(metadata));
    const addClaims = (pod: Pod): void => {
      for (const key of podClaim(pod)) if (claims.store.has(key)) queue.add(key);
    };
    const stops = [
      claims.onChange({ add, update: (_before, after) => add(after) }),
      pods.onChange({
        update(before, after) {
          if (isUsing(before) && !isUsing(after)) addClaims(after);
        },
        delete: addClaims,
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

/** Only pods that have a node can have mounted a claim. */
const isUsing = (pod: Pod): boolean => Boolean(pod.spec.nodeName) && !isPodFinished(pod);

export const volumeProtectionController: Controller = {
  name: 'persistentvolume-protection-controller',
  shortName: 'pv-protection',
  account: 'pv-protection-controller',
  watches: mayWatch(persistentVolumeDefinition),
  rights: [may('update', persistentVolumeDefinition)],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const volumes = informers.of(persistentVolumeDefinition);
    const client = resourceClient(caller, persistentVolumeDefinition);
    if (!(await waitForSync([volumes], signal))) return;

    const reconcile = async (name: string): Promise<undefined> => {
      const volume = volumes.store.get(name);
      if (volume === undefined) return;
      const isBound = (): boolean => volume.status.phase === 'Bound';
      const wanted = protectedAs(volume, volumeProtectionFinalizer, isBound);
      if (wanted !== undefined) await client.update(wanted).catch(ignoreMissing);
    };
    const { queue, ended } = startReconciler(
      { name: 'pvprotection', reconcile, clock, log, metrics, concurrency },
      signal,
    );
    const add = ({ metadata }: KubeObject): void => queue.add(metadata.name ?? '');
    const stop = volumes.onChange({ add, update: (_before, after) => add(after) });
    await ended;
    stop();
  },
};

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

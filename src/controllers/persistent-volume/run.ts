// Binds claims to volumes, and reclaims volumes whose claims are gone. One queue for both, because a change of one is
// often a change of the other.
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { sleep } from '../../host/clock.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import {
  createVolumeIndex,
  type VolumeIndex,
  versionOf,
} from '../../kinds/persistent-volume/volume-index.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { podClaim, podClaimIndex } from '../../kinds/pod/claim-index.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { storageClassDefinition } from '../../kinds/storage-class/definition.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { objectKey } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { Controller } from '../controller.ts';
import {
  bind,
  requestVolume,
  unboundStatus,
  updateClaim,
  updateVolume,
  type Writer,
  writeClaimStatus,
  writePhase,
} from './apply.ts';
import { type ClaimStep, type ClaimWorld, nextClaimStep } from './desired-claim.ts';
import { nextVolumeStep, reclaimOf, unboundVolume } from './desired-volume.ts';

/** Each binding is four writes, which share their syncs to disk. */
const concurrency = 16;
/** Upstream's period of another look at everything; events about pending claims are repeated then. */
const resyncMs = 15_000;
const backOff = { firstMs: 20, maxMs: 10_000 };
const component = 'persistentvolume-controller';

const claimPrefix = 'claim ';
const volumePrefix = 'volume ';

export const persistentVolumeBinder: Controller = {
  name: 'persistentvolume-binder-controller',
  shortName: 'persistentvolume-binder',
  account: 'persistent-volume-binder',
  watches: mayWatch(
    persistentVolumeDefinition,
    persistentVolumeClaimDefinition,
    storageClassDefinition,
    podDefinition,
  ),
  rights: [
    may('delete update', persistentVolumeDefinition),
    may('update', persistentVolumeDefinition, { subresource: 'status' }),
    may('get update', persistentVolumeClaimDefinition),
    may('update', persistentVolumeClaimDefinition, { subresource: 'status' }),
    mayRecordEvents,
  ],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const volumes = informers.of(persistentVolumeDefinition);
    const claims = informers.of(persistentVolumeClaimDefinition);
    const classes = informers.of(storageClassDefinition);
    const pods = informers.of(podDefinition);
    pods.addIndex(podClaimIndex, podClaim);
    if (!(await waitForSync([volumes, claims, classes, pods], signal))) return;
    const index = createVolumeIndex();
    const known = new Map<string, PersistentVolumeClaim>();
    const writer: Writer = {
      volumes: resourceClient(caller, persistentVolumeDefinition),
      claims: resourceClient(caller, persistentVolumeClaimDefinition),
      wroteVolume: index.put,
      wroteClaim: (claim) => void known.set(objectKey(claim.metadata), claim),
    };
    const world: ClaimWorld = {
      volumes: index,
      classOf: (name) => classes.store.get(name),
      classes: () => classes.store.values(),
      waitingPods: ({ metadata }) =>
        pods.store
          .select(podClaimIndex, objectKey(metadata))
          .filter(({ spec }) => !spec.nodeName)
          .map((pod) => pod.metadata.name ?? ''),
    };
    const recorder = createEventRecorder({ caller, component, clock, log });
    const claimOf = (key: string): PersistentVolumeClaim | undefined => {
      const [shown, written] = [claims.store.get(key), known.get(key)];
      if (shown === undefined || written === undefined) return shown;
      if (versionOf(shown) >= versionOf(written)) known.delete(key);
      return versionOf(shown) >= versionOf(written) ? shown : written;
    };
    const task = { writer, recorder, world, index, claimOf, addClaim: (_key: string): void => {} };
    const reconcile = async (key: string): Promise<undefined> => {
      if (key.startsWith(claimPrefix)) await syncClaim(task, key.slice(claimPrefix.length));
      else await syncVolume(task, key.slice(volumePrefix.length));
    };
    const { queue, ended } = startReconciler(
      { name: 'persistentvolumes', reconcile, clock, log, metrics, concurrency, backOff },
      signal,
    );
    const addClaim = (key: string): void => queue.add(claimPrefix + key);
    task.addClaim = addClaim;
    /** Pending claims, which another volume or class may help. */
    const addPending = (): void => {
      for (const { metadata, status } of claims.store.values())
        if (status.phase !== 'Bound') addClaim(objectKey(metadata));
    };
    const volumeChanged = (volume: PersistentVolume): void => {
      index.put(volume);
      queue.add(volumePrefix + (volume.metadata.name ?? ''));
    };
    const stops = [
      volumes.onChange({
        add: volumeChanged,
        update: (_before, after) => volumeChanged(after),
        delete(volume) {
          index.remove(volume.metadata.name ?? '');
          const { claimRef } = volume.spec;
          if (claimRef !== undefined) addClaim(`${claimRef.namespace}/${claimRef.name}`);
        },
      }),
      claims.onChange({
        add: ({ metadata }) => addClaim(objectKey(metadata)),
        update: (_before, { metadata }) => addClaim(objectKey(metadata)),
        delete(claim) {
          known.delete(objectKey(claim.metadata));
          const { volumeName } = claim.spec;
          if (volumeName) queue.add(volumePrefix + volumeName);
        },
      }),
      classes.onChange({ add: addPending, update: addPending }),
    ];
    await Promise.all([ended, resync({ addPending, index, queue, clock }, signal)]);
    for (const stop of stops) stop();
  },
};

type Resync = {
  readonly addPending: () => void;
  readonly index: VolumeIndex;
  readonly queue: { readonly add: (key: string) => void };
  readonly clock: Parameters<typeof sleep>[0];
};

/** Claims that wait for a volume, and volumes that are not where they should be. */
async function resync(
  { addPending, index, queue, clock }: Resync,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, resyncMs, signal);
    if (signal.aborted) return;
    addPending();
    for (const volume of index.values())
      if (volume.status.phase !== 'Bound') queue.add(volumePrefix + (volume.metadata.name ?? ''));
  }
}

type Task = {
  readonly writer: Writer;
  readonly recorder: EventRecorder;
  readonly world: ClaimWorld;
  readonly index: VolumeIndex;
  readonly claimOf: (key: string) => PersistentVolumeClaim | undefined;
  readonly addClaim: (key: string) => void;
};

async function syncClaim(task: Task, key: string): Promise<void> {
  const claim = task.claimOf(key);
  if (claim === undefined) return;
  await carryOut(task, claim, nextClaimStep(claim, task.world));
}

async function carryOut(
  { writer, recorder, index }: Task,
  claim: PersistentVolumeClaim,
  step: ClaimStep,
): Promise<void> {
  switch (step.action) {
    case 'bind': {
      // Reserved before the write: claims that are synced meanwhile find another one.
      const before = step.volume;
      index.put(reservedCopy(before, claim));
      try {
        await bind(writer, before, claim);
      } catch (error) {
        // Another program may have changed or deleted it; the informer shows which.
        if (versionOf(index.get(before.metadata.name ?? '') ?? before) === versionOf(before))
          index.put(before);
        throw error;
      }
      return;
    }
    case 'classify': {
      const { storageClassName } = step;
      await updateClaim(writer, { ...claim, spec: { ...claim.spec, storageClassName } });
      return;
    }
    case 'provision':
      recorder.record(claim, step.event);
      return requestVolume(writer, claim, step.provisioner);
    case 'lose':
      if (await writeClaimStatus(writer, claim, unboundStatus(claim, 'Lost')))
        recorder.record(claim, step.event);
      return;
    case 'wait':
      if (step.event !== undefined) recorder.record(claim, step.event);
      await writeClaimStatus(writer, claim, unboundStatus(claim, 'Pending'));
  }
}

function reservedCopy(volume: PersistentVolume, { metadata }: PersistentVolumeClaim) {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { ...volume, spec: { ...volume.spec, claimRef: { namespace, name, uid } } };
}

async function syncVolume(task: Task, name: string): Promise<void> {
  const { writer, index, recorder } = task;
  const volume = index.get(name);
  if (volume === undefined) return;
  const claim = await boundClaim(task, volume);
  const step = nextVolumeStep(volume, claim);
  switch (step.action) {
    case 'phase':
      await writePhase(writer, volume, step.phase);
      return;
    case 'claim':
      if (claim === undefined) return;
      if (step.mismatch) reportModes(recorder, volume, claim);
      task.addClaim(objectKey(claim.metadata));
      return;
    case 'unbind':
      await writePhase(writer, await updateVolume(writer, unboundVolume(volume)), 'Available');
      return;
    case 'release':
      await release(task, volume);
  }
}

/** A claim that is not shown yet may exist: its data must not be deleted. */
async function boundClaim(
  { claimOf, writer }: Task,
  { spec: { claimRef }, status }: PersistentVolume,
): Promise<PersistentVolumeClaim | undefined> {
  const { namespace = '', name = '', uid } = claimRef ?? {};
  if (!uid) return undefined;
  const shown = claimOf(`${namespace}/${name}`);
  if (shown?.metadata.uid === uid) return shown;
  if (status.phase === 'Released' || status.phase === 'Failed') return undefined;
  try {
    const live = await writer.claims.get({ namespace, name });
    return live.metadata.uid === uid ? live : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function reportModes(
  recorder: EventRecorder,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): void {
  const mismatch = { type: 'Warning', reason: 'VolumeMismatch' } as const;
  const why = 'due to incompatible volumeMode.';
  const [claimName, name] = [claim.metadata.name ?? '', volume.metadata.name ?? ''].map(goQuote);
  recorder.record(volume, {
    ...mismatch,
    message: `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${why}`,
  });
  recorder.record(claim, {
    ...mismatch,
    message: `Cannot bind PersistentVolume ${name} to requested PersistentVolumeClaim ${why}`,
  });
}

async function release({ writer, recorder }: Task, volume: PersistentVolume): Promise<void> {
  const released =
    volume.status.phase === 'Failed' ? volume : await writePhase(writer, volume, 'Released');
  const reclaim = reclaimOf(released);
  const { name = '', uid } = released.metadata;
  if (reclaim.action === 'delete' && released.metadata.deletionTimestamp === undefined) {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await writer.volumes.delete({ name }, preconditions);
  }
  if (reclaim.action === 'fail') {
    await writePhase(writer, released, 'Failed', reclaim.event.message);
    if (released.status.phase !== 'Failed') recorder.record(released, reclaim.event);
  }
}

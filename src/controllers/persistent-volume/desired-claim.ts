// The next step for a claim. Upstream: pkg/controller/volume/persistentvolume/pv_controller.go, syncClaim.
import {
  bindCompletedAnnotation,
  boundByControllerAnnotation,
  hasAnnotation,
  isBoundToClaim,
  mismatch,
  selectedNodeAnnotation,
  waitsForConsumer,
} from '../../kinds/persistent-volume/binding.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import type { VolumeIndex } from '../../kinds/persistent-volume/volume-index.ts';
import { classOfClaim } from '../../kinds/persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { defaultClass } from '../../kinds/storage-class/default-class.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { objectKey } from '../../meta/object.ts';
import { betaStorageClassAnnotation } from '../../meta/well-known-annotations.ts';
import { goQuote } from '../../schema/go-quote.ts';

export type ClaimEvent = {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
};

export type ClaimStep =
  | { readonly action: 'bind'; readonly volume: PersistentVolume }
  | { readonly action: 'wait'; readonly event?: ClaimEvent }
  | { readonly action: 'lose'; readonly event: ClaimEvent }
  /** A default class came after the claim. */
  | { readonly action: 'classify'; readonly storageClassName: string }
  | { readonly action: 'provision'; readonly provisioner: string; readonly event: ClaimEvent };

export type ClaimWorld = {
  readonly volumes: Pick<VolumeIndex, 'get' | 'reservedFor' | 'smallest'>;
  readonly classOf: (name: string) => StorageClass | undefined;
  readonly classes: () => Iterable<StorageClass>;
  /** Pods that use the claim and wait for a node. */
  readonly waitingPods: (claim: PersistentVolumeClaim) => readonly string[];
};

export const nextClaimStep = (claim: PersistentVolumeClaim, world: ClaimWorld): ClaimStep =>
  hasAnnotation(claim, bindCompletedAnnotation)
    ? stepOfBound(claim, world)
    : claim.spec.volumeName
      ? stepOfNamed(claim, world)
      : stepOfUnbound(claim, world);

const warning = (reason: string, message: string): ClaimEvent => ({
  type: 'Warning',
  reason,
  message,
});
const normal = (reason: string, message: string): ClaimEvent => ({
  type: 'Normal',
  reason,
  message,
});

function stepOfBound(claim: PersistentVolumeClaim, { volumes }: ClaimWorld): ClaimStep {
  const { volumeName } = claim.spec;
  const lose = (reason: string, why: string): ClaimStep => ({
    action: 'lose',
    event: warning(reason, why),
  });
  if (!volumeName)
    return lose(
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    );
  const volume = volumes.get(volumeName);
  if (volume === undefined)
    return lose(
      'ClaimLost',
      'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    );
  const uid = volume.spec.claimRef?.uid;
  if (volume.spec.claimRef === undefined || uid === claim.metadata.uid)
    return { action: 'bind', volume };
  return lose(
    'ClaimMisbound',
    'Two claims are bound to the same volume, this one is bound incorrectly',
  );
}

/** The claim names its volume, and is not bound yet. */
function stepOfNamed(claim: PersistentVolumeClaim, { volumes }: ClaimWorld): ClaimStep {
  const volume = volumes.get(claim.spec.volumeName ?? '');
  if (volume === undefined) return { action: 'wait' };
  if (volume.spec.claimRef === undefined) {
    const why = mismatch(volume, claim);
    if (why === undefined) return { action: 'bind', volume };
    const name = goQuote(volume.metadata.name ?? '');
    const message = `Cannot bind to requested volume ${name}: ${why}`;
    return { action: 'wait', event: warning('VolumeMismatch', message) };
  }
  if (isBoundToClaim(volume, claim)) return { action: 'bind', volume };
  if (!hasAnnotation(claim, boundByControllerAnnotation)) {
    const message = `volume ${goQuote(volume.metadata.name ?? '')} already bound to a different claim.`;
    return { action: 'wait', event: warning('FailedBinding', message) };
  }
  const { namespace = '', name = '' } = volume.spec.claimRef;
  throw new Error(
    `invalid binding of claim ${goQuote(objectKey(claim.metadata))} to volume ${goQuote(volume.metadata.name ?? '')}: volume already claimed by ${goQuote(`${namespace}/${name}`)}`,
  );
}

function stepOfUnbound(claim: PersistentVolumeClaim, world: ClaimWorld): ClaimStep {
  const { volumes, classOf } = world;
  const name = classOfClaim(claim);
  const storage = name === '' ? undefined : classOf(name);
  const isSelected = hasAnnotation(claim, selectedNodeAnnotation);
  const isDelayed = waitsForConsumer(storage) && !isSelected;
  const reserved = volumes.reservedFor(claim);
  if (reserved !== undefined && mismatch(reserved, claim) === undefined)
    return { action: 'bind', volume: reserved };
  const found = waitsForConsumer(storage) ? undefined : volumes.smallest(claim);
  if (found !== undefined) return { action: 'bind', volume: found };
  const isUnclassed =
    claim.spec.storageClassName === undefined && !hasAnnotation(claim, betaStorageClassAnnotation);
  const given = isUnclassed ? defaultClass(world.classes())?.metadata.name : undefined;
  if (given !== undefined) return { action: 'classify', storageClassName: given };
  if (isDelayed) return { action: 'wait', event: waitingEvent(world.waitingPods(claim)) };
  if (name !== '') return provisionStep(name, storage);
  const none = 'no persistent volumes available for this claim and no storage class is set';
  return { action: 'wait', event: normal('FailedBinding', none) };
}

function waitingEvent(pods: readonly string[]): ClaimEvent {
  if (pods.length === 0)
    return normal(
      'WaitForFirstConsumer',
      'waiting for first consumer to be created before binding',
    );
  const noun = pods.length === 1 ? 'pod' : 'pods';
  return normal('WaitForPodScheduled', `waiting for ${noun} ${pods.join(',')} to be scheduled`);
}

const builtIn = 'kubernetes.io/';

function provisionStep(name: string, storage: StorageClass | undefined): ClaimStep {
  const failed = (message: string): ClaimStep => ({
    action: 'wait',
    event: warning('ProvisioningFailed', message),
  });
  if (storage === undefined)
    return failed(`storageclass.storage.k8s.io ${goQuote(name)} not found`);
  const { provisioner } = storage;
  if (provisioner.startsWith(builtIn))
    return failed(`no volume plugin matched name: ${provisioner}`);
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return { action: 'provision', provisioner, event: normal('ExternalProvisioning', message) };
}

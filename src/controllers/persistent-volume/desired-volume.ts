// The next step for a volume. Upstream: pkg/controller/volume/persistentvolume/pv_controller.go, syncVolume.
import {
  boundByControllerAnnotation,
  hasAnnotation,
  hasSameMode,
  provisionedByAnnotation,
} from '../../kinds/persistent-volume/binding.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ClaimEvent } from './desired-claim.ts';

export type VolumeStep =
  | { readonly action: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** The claim is to be synced: it binds itself. */
  | { readonly action: 'claim'; readonly mismatch: boolean }
  /** The claim is gone, or bound elsewhere. */
  | { readonly action: 'release' }
  | { readonly action: 'unbind' };

/** `claim` is the one that the volume refers to, by name and uid; absent when there is none. */
export function nextVolumeStep(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
): VolumeStep {
  const { claimRef, persistentVolumeReclaimPolicy } = volume.spec;
  // Without a uid it is reserved for a claim that is not bound yet.
  if (claimRef === undefined || !claimRef.uid) return { action: 'phase', phase: 'Available' };
  if (claim === undefined) return { action: 'release' };
  const { volumeName } = claim.spec;
  if (!volumeName) return { action: 'claim', mismatch: !hasSameMode(volume, claim) };
  if (volumeName === volume.metadata.name) return { action: 'phase', phase: 'Bound' };
  const isProvisioned = hasAnnotation(volume, provisionedByAnnotation);
  return isProvisioned && persistentVolumeReclaimPolicy === 'Delete'
    ? { action: 'release' }
    : { action: 'unbind' };
}

/** Without its claim; a reservation that a user made stays, for another claim of that name. */
export function unboundVolume(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec;
  if (hasAnnotation(volume, boundByControllerAnnotation)) {
    const { [boundByControllerAnnotation]: _mark, ...annotations } =
      volume.metadata.annotations ?? {};
    return { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  }
  if (claimRef === undefined) return volume;
  const { uid: _uid, resourceVersion: _version, ...reserved } = claimRef;
  return { ...volume, spec: { ...spec, claimRef: reserved } };
}

export type Reclaim =
  | { readonly action: 'none' }
  | { readonly action: 'delete' }
  | { readonly action: 'fail'; readonly event: ClaimEvent };

/** What becomes of a released volume. Provisioners reclaim what they made. */
export function reclaimOf(volume: PersistentVolume): Reclaim {
  const { persistentVolumeReclaimPolicy: policy, hostPath } = volume.spec;
  if (policy === 'Recycle')
    return failure('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  const isProvisioned = hasAnnotation(volume, provisionedByAnnotation);
  if (policy !== 'Delete' || isProvisioned) return { action: 'none' };
  if (hostPath === undefined) {
    const name = goQuote(volume.metadata.name ?? '');
    return failure(
      'VolumeFailedDelete',
      `error getting deleter volume plugin for volume ${name}: no deletable volume plugin matched`,
    );
  }
  // Upstream's deleter of directories knows those in /tmp only. The directory itself is a node's, and stays.
  return /^\/tmp\/.+/.test(hostPath.path)
    ? { action: 'delete' }
    : failure(
        'VolumeFailedDelete',
        `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`,
      );
}

const failure = (reason: string, message: string): Reclaim => ({
  action: 'fail',
  event: { type: 'Warning', reason, message },
});

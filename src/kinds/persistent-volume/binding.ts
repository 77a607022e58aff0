// What binds claims and volumes, for the controllers and the scheduler. Upstream: component-helpers/storage/volume.
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { classOfClaim } from '../persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import type { StorageClass } from '../storage-class/types.ts';
import { classOfVolume } from './columns.ts';
import type { PersistentVolume } from './types.ts';

/** On a claim: its binding is complete. */
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
/** On a claim or a volume: the controller chose the other one, not a user. */
export const boundByControllerAnnotation = 'pv.kubernetes.io/bound-by-controller';
/** On a volume: who made it. */
export const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';
/** On a claim: who is to make its volume. */
export const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
/** The name of `storage-provisioner` before Kubernetes 1.23. */
export const betaProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner';
/** On a claim: the node of the first pod that uses it. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';

export const hasAnnotation = (
  { metadata }: PersistentVolume | PersistentVolumeClaim,
  name: string,
): boolean => metadata.annotations?.[name] !== undefined;

const sizeOfClaim = ({ spec }: PersistentVolumeClaim): string =>
  spec.resources.requests?.storage ?? '0';
export const sizeOfVolume = ({ spec }: PersistentVolume): string => spec.capacity?.storage ?? '0';

/** Whether the volume is, or is reserved, for this claim. */
export function isBoundToClaim(
  { spec: { claimRef } }: PersistentVolume,
  { metadata }: PersistentVolumeClaim,
): boolean {
  return (
    claimRef !== undefined &&
    claimRef.name === metadata.name &&
    claimRef.namespace === metadata.namespace &&
    (!claimRef.uid || claimRef.uid === metadata.uid)
  );
}

/** Why a volume that the claim names cannot be bound to it; upstream's words. */
export function mismatch(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): string | undefined {
  if (compareQuantities(sizeOfVolume(volume), sizeOfClaim(claim)) < 0)
    return 'requested PV is too small';
  if (classOfVolume(volume) !== classOfClaim(claim)) return 'storageClassName does not match';
  const attributes = (object: PersistentVolume | PersistentVolumeClaim): string =>
    object.spec.volumeAttributesClassName ?? '';
  if (attributes(volume) !== attributes(claim)) return 'volumeAttributesClassName does not match';
  if (!hasSameMode(volume, claim)) return 'incompatible volumeMode';
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode';
}

export const hasSameMode = (
  { spec: { volumeMode: a = 'Filesystem' } }: PersistentVolume,
  { spec: { volumeMode: b = 'Filesystem' } }: PersistentVolumeClaim,
): boolean => a === b;

const hasModes = ({ spec: volume }: PersistentVolume, { spec: claim }: PersistentVolumeClaim) =>
  (claim.accessModes ?? []).every((mode) => (volume.accessModes ?? []).includes(mode));

/** Whether a volume that is free can be chosen for the claim. */
export function isCandidate(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { selector } = claim.spec;
  return (
    volume.metadata.deletionTimestamp === undefined &&
    volume.spec.claimRef === undefined &&
    volume.status.phase === 'Available' &&
    mismatch(volume, claim) === undefined &&
    (selector === undefined ||
      matchesSelector(selectorFromLabelSelector(selector), volume.metadata.labels))
  );
}

/** Whether the claim waits until a pod that uses it is scheduled. */
export const waitsForConsumer = (storage: StorageClass | undefined): boolean =>
  storage?.volumeBindingMode === 'WaitForFirstConsumer';

// Writes bindings, in upstream's order, so that an interruption after any write is continued by the next sync.
import type { ResourceClient } from '../../client/rest.ts';
import {
  betaProvisionerAnnotation,
  bindCompletedAnnotation,
  boundByControllerAnnotation,
  hasAnnotation,
  isBoundToClaim,
  provisionerAnnotation,
} from '../../kinds/persistent-volume/binding.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
} from '../../kinds/persistent-volume-claim/types.ts';
import { deepEqual } from '../../schema/equality.ts';

export type Writer = {
  readonly volumes: ResourceClient<PersistentVolume>;
  readonly claims: ResourceClient<PersistentVolumeClaim>;
  /** What was written, for the decisions that follow before the informers show it. */
  readonly wroteVolume: (volume: PersistentVolume) => void;
  readonly wroteClaim: (claim: PersistentVolumeClaim) => void;
};

const status = { subresource: 'status' };

export async function bind(
  writer: Writer,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const reserved = await bindVolume(writer, volume, claim);
  await writePhase(writer, reserved, 'Bound');
  const named = await bindClaim(writer, claim, reserved);
  await writeClaimStatus(writer, named, boundStatus(named, reserved));
}

async function bindVolume(
  writer: Writer,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolume> {
  const { uid, namespace, name, resourceVersion } = claim.metadata;
  const isReserved = isBoundToClaim(volume, claim);
  if (isReserved && volume.spec.claimRef?.uid === uid) return volume;
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid };
  const reference = Object.fromEntries(
    Object.entries({ ...claimRef, resourceVersion }).filter(([, value]) => value !== undefined),
  );
  return updateVolume(writer, {
    ...withMark(volume, !isReserved, boundByControllerAnnotation),
    spec: { ...volume.spec, claimRef: reference },
  });
}

async function bindClaim(
  writer: Writer,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<PersistentVolumeClaim> {
  const { name: volumeName = '' } = volume.metadata;
  const isNamed = claim.spec.volumeName === volumeName;
  if (isNamed && hasAnnotation(claim, bindCompletedAnnotation)) return claim;
  return updateClaim(writer, {
    ...withMark(
      withMark(claim, !isNamed, boundByControllerAnnotation),
      true,
      bindCompletedAnnotation,
    ),
    spec: { ...claim.spec, volumeName },
  });
}

function withMark<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  isMarked: boolean,
  annotation: string,
): T {
  if (!isMarked || hasAnnotation(object, annotation)) return object;
  const annotations = { ...object.metadata.annotations, [annotation]: 'yes' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The capacity is that of the volume when the claim becomes bound; afterwards an expansion may be between the two. */
function boundStatus(
  { status: before }: PersistentVolumeClaim,
  { spec }: PersistentVolume,
): PersistentVolumeClaimStatus {
  const { storage } = spec.capacity ?? {};
  const isNew = before.phase !== 'Bound' || before.capacity === undefined;
  return {
    ...before,
    phase: 'Bound',
    ...(spec.accessModes === undefined ? {} : { accessModes: spec.accessModes }),
    ...(isNew && storage !== undefined ? { capacity: { ...before.capacity, storage } } : {}),
  };
}

/** A claim without a volume, in this phase. */
export function unboundStatus(
  { status: before }: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
): PersistentVolumeClaimStatus {
  const { accessModes: _modes, capacity: _capacity, ...others } = before;
  return { ...others, phase };
}

export async function writeClaimStatus(
  writer: Writer,
  claim: PersistentVolumeClaim,
  wanted: PersistentVolumeClaimStatus,
): Promise<boolean> {
  if (deepEqual(claim.status, wanted)) return false;
  writer.wroteClaim(await writer.claims.update({ ...claim, status: wanted }, status));
  return true;
}

export async function writePhase(
  writer: Writer,
  volume: PersistentVolume,
  phase: string,
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status.phase === phase) return volume;
  const { message: _before, ...others } = volume.status;
  const wanted = { ...others, phase, ...(message === undefined ? {} : { message }) };
  const written = await writer.volumes.update({ ...volume, status: wanted }, status);
  writer.wroteVolume(written);
  return written;
}

export async function updateVolume(
  writer: Writer,
  volume: PersistentVolume,
): Promise<PersistentVolume> {
  const written = await writer.volumes.update(volume);
  writer.wroteVolume(written);
  return written;
}

export async function updateClaim(
  writer: Writer,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolumeClaim> {
  const written = await writer.claims.update(claim);
  writer.wroteClaim(written);
  return written;
}

/** Notes who is to make the volume. */
export async function requestVolume(
  writer: Writer,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Promise<void> {
  const { annotations = {} } = claim.metadata;
  if (annotations[provisionerAnnotation] === provisioner) return;
  const requested = {
    ...annotations,
    [betaProvisionerAnnotation]: provisioner,
    [provisionerAnnotation]: provisioner,
  };
  await updateClaim(writer, { ...claim, metadata: { ...claim.metadata, annotations: requested } });
}

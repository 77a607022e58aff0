import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
} from './types.ts';

export const defaultClaimSpec = (spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec =>
  spec.volumeMode === undefined ? { ...spec, volumeMode: 'Filesystem' } : spec;

type Template = {
  readonly spec: PersistentVolumeClaimSpec;
  readonly status: PersistentVolumeClaimStatus;
};

/** For a claim, and for the claim templates of a StatefulSet. */
export function defaultClaim<T extends Template>(claim: T): T {
  const { spec, status } = claim;
  return {
    ...claim,
    spec: defaultClaimSpec(spec),
    status: status.phase ? status : { ...status, phase: 'Pending' },
  };
}

export const defaultPersistentVolumeClaim: (claim: PersistentVolumeClaim) => PersistentVolumeClaim =
  defaultClaim;

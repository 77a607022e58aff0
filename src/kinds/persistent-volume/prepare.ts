import type { WriteContext } from '../definition.ts';
import type { PersistentVolume } from './types.ts';

export const prepareVolumeCreate = (
  volume: PersistentVolume,
  { now }: WriteContext,
): PersistentVolume => ({
  ...volume,
  status: { phase: 'Pending', lastPhaseTransitionTime: now },
});

/** Notes when the phase changed, where the client does not. */
export function prepareVolumeStatus(
  before: PersistentVolume,
  after: PersistentVolume,
  { now }: WriteContext,
): PersistentVolume {
  const was = before.status.lastPhaseTransitionTime;
  const { phase, lastPhaseTransitionTime: is } = after.status;
  const isNoted = is !== undefined && is !== was;
  const status =
    phase === before.status.phase || isNoted
      ? after.status
      : { ...after.status, lastPhaseTransitionTime: now };
  return { ...after, spec: before.spec, status };
}

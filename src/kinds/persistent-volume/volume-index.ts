// Free volumes by class and access modes, by size: the smallest that fits a claim is found without reading all of them.
import { compareQuantities } from '../../schema/quantity.ts';
import { classOfClaim } from '../persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import { isCandidate, sizeOfVolume } from './binding.ts';
import { classOfVolume } from './columns.ts';
import type { PersistentVolume } from './types.ts';

export type VolumeIndex = {
  readonly get: (name: string) => PersistentVolume | undefined;
  readonly values: () => Iterable<PersistentVolume>;
  /** Ignores older versions of what it knows. */
  readonly put: (volume: PersistentVolume) => void;
  readonly remove: (name: string) => void;
  /** The volume that a user reserved for the claim. */
  readonly reservedFor: (claim: PersistentVolumeClaim) => PersistentVolume | undefined;
  /** The smallest of those with the fewest access modes; ties go to the first name. */
  readonly smallest: (
    claim: PersistentVolumeClaim,
    fits?: (volume: PersistentVolume) => boolean,
  ) => PersistentVolume | undefined;
};

type Group = { readonly modes: readonly string[]; readonly volumes: PersistentVolume[] };

export const versionOf = ({ metadata }: PersistentVolume | PersistentVolumeClaim): number =>
  Number(metadata.resourceVersion ?? 0);

export function createVolumeIndex(): VolumeIndex {
  const byName = new Map<string, PersistentVolume>();
  const byClaim = new Map<string, Set<string>>();
  const byClass = new Map<string, Map<string, Group>>();

  function drop(volume: PersistentVolume): void {
    const { name = '' } = volume.metadata;
    const reserved = claimKey(volume.spec.claimRef);
    byClaim.get(reserved)?.delete(name);
    if (byClaim.get(reserved)?.size === 0) byClaim.delete(reserved);
    if (volume.spec.claimRef !== undefined) return;
    const group = byClass.get(classOfVolume(volume))?.get(modesKey(volume));
    if (group === undefined) return;
    const at = positionOf(group.volumes, volume);
    if (group.volumes[at]?.metadata.name === name) group.volumes.splice(at, 1);
  }

  function add(volume: PersistentVolume): void {
    const { name = '' } = volume.metadata;
    byName.set(name, volume);
    if (volume.spec.claimRef !== undefined) {
      const key = claimKey(volume.spec.claimRef);
      const names = byClaim.get(key) ?? new Set();
      byClaim.set(key, names.add(name));
      return;
    }
    const groups = byClass.get(classOfVolume(volume)) ?? new Map<string, Group>();
    byClass.set(classOfVolume(volume), groups);
    const group = groups.get(modesKey(volume)) ?? {
      modes: volume.spec.accessModes ?? [],
      volumes: [],
    };
    groups.set(modesKey(volume), group);
    group.volumes.splice(positionOf(group.volumes, volume), 0, volume);
  }

  return {
    get: (name) => byName.get(name),
    values: () => byName.values(),
    put(volume) {
      const known = byName.get(volume.metadata.name ?? '');
      if (known !== undefined && versionOf(known) > versionOf(volume)) return;
      if (known !== undefined) drop(known);
      add(volume);
    },
    remove(name) {
      const known = byName.get(name);
      if (known === undefined) return;
      byName.delete(name);
      drop(known);
    },
    reservedFor({ metadata }) {
      const names = byClaim.get(`${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
      for (const name of names ?? []) {
        const volume = byName.get(name);
        const uid = volume?.spec.claimRef?.uid;
        if (volume !== undefined && (!uid || uid === metadata.uid)) return volume;
      }
      return undefined;
    },
    smallest(claim, fits = () => true) {
      const groups = [...(byClass.get(classOfClaim(claim))?.values() ?? [])]
        .filter(({ modes }) => (claim.spec.accessModes ?? []).every((one) => modes.includes(one)))
        .sort((a, b) => a.modes.length - b.modes.length);
      for (const { volumes } of groups) {
        const size = claim.spec.resources.requests?.storage ?? '0';
        for (let at = firstOfSize(volumes, size); at < volumes.length; at += 1) {
          const volume = volumes[at];
          if (volume !== undefined && isCandidate(volume, claim) && fits(volume)) return volume;
        }
      }
      return undefined;
    },
  };
}

const claimKey = (reference: PersistentVolume['spec']['claimRef']): string =>
  `${reference?.namespace ?? ''}/${reference?.name ?? ''}`;

const modesKey = ({ spec }: PersistentVolume): string =>
  [...new Set(spec.accessModes ?? [])].sort().join(',');

function isBefore(a: PersistentVolume, b: PersistentVolume): boolean {
  const order = compareQuantities(sizeOfVolume(a), sizeOfVolume(b));
  return order < 0 || (order === 0 && (a.metadata.name ?? '') < (b.metadata.name ?? ''));
}

/** Where the volume is, or belongs. */
const positionOf = (volumes: readonly PersistentVolume[], volume: PersistentVolume): number =>
  firstWhere(volumes, (one) => !isBefore(one, volume));

const firstOfSize = (volumes: readonly PersistentVolume[], size: string): number =>
  firstWhere(volumes, (one) => compareQuantities(sizeOfVolume(one), size) >= 0);

function firstWhere(
  volumes: readonly PersistentVolume[],
  holds: (volume: PersistentVolume) => boolean,
): number {
  let [low, high] = [0, volumes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const volume = volumes[middle];
    if (volume !== undefined && holds(volume)) high = middle;
    else low = middle + 1;
  }
  return low;
}

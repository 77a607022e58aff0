// Pods by the claims that they use, for informers.
import type { Pod } from './types.ts';
import type { Volume } from './volume.ts';

/** Names of the claims, with those that are made for its ephemeral volumes. */
export const claimsOfPod = ({ metadata, spec }: Pod): readonly string[] =>
  (spec.volumes ?? []).flatMap((volume) => claimOfVolume(metadata.name ?? '', volume) ?? []);

export function claimOfVolume(pod: string, volume: Volume): string | undefined {
  const { name, persistentVolumeClaim, ephemeral } = volume;
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName;
  return ephemeral === undefined ? undefined : `${pod}-${name}`;
}

export const podClaimIndex = 'claim';

/** `namespace/claim` */
export const podClaim = (pod: Pod): readonly string[] =>
  claimsOfPod(pod).map((name) => `${pod.metadata.namespace ?? ''}/${name}`);

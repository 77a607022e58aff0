// Volumes of a pod that are images.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type ImageVolume = {
  /** Name of the volume. */
  readonly volume: string;
  readonly image: string;
  readonly policy: string;
};

/** Those that the container mounts. */
export function mountedImageVolumes(
  { spec }: Pod,
  { volumeMounts = [] }: Container,
): readonly ImageVolume[] {
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return (spec.volumes ?? []).flatMap(({ name, image }) =>
    image === undefined || !mounted.has(name)
      ? []
      : [
          {
            volume: name,
            image: image.reference ?? '',
            policy: image.pullPolicy ?? 'IfNotPresent',
          },
        ],
  );
}

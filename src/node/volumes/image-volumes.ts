// Image volumes are refused: nodes run processes and have no images.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type RefusedImage = { readonly image: string; readonly problem: string };

/** The problem of the first image volume that the container mounts. */
export function imageVolumeProblem(
  { spec }: Pod,
  { volumeMounts = [] }: Container,
): RefusedImage | undefined {
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  const volume = (spec.volumes ?? []).find(
    (one) => one.image !== undefined && mounted.has(one.name),
  );
  if (volume === undefined) return undefined;
  const image = volume.image?.reference ?? '';
  return {
    image,
    problem: `volume ${JSON.stringify(volume.name)} cannot be mounted: this node runs processes and has no images`,
  };
}

// Volumes with the files of an image. Nodes run processes of the machine and have no images to take files from.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type RefusedImage = { readonly image: string; readonly problem: string };

/** Of the first such volume that the container mounts; those that no container mounts harm nobody. */
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

// Endpoints whose Service went while nobody looked.
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { objectKey } from '../../meta/object.ts';
import { leaderAnnotation } from '../../meta/well-known-annotations.ts';

export function isOrphanToSweep(
  { metadata }: Endpoints,
  services: { readonly has: (key: string) => boolean },
): boolean {
  return (
    metadata.annotations?.[leaderAnnotation] === undefined && !services.has(objectKey(metadata))
  );
}

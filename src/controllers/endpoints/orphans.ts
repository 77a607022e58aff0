// Endpoints whose Service went while nobody looked.
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { objectKey } from '../../meta/object.ts';

/** Programs once elected leaders through Endpoints; those belong to no Service and are in use. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';

export function isOrphanToSweep(
  { metadata }: Endpoints,
  services: { readonly has: (key: string) => boolean },
): boolean {
  return (
    metadata.annotations?.[leaderAnnotation] === undefined && !services.has(objectKey(metadata))
  );
}

// The same owner twice counts once. Clients are told, in upstream's words (endpoints/handlers/rest.go): they differ for
// patches, whose result is looked at later.
import { type KubeObject, type OwnerReference, withMetadata } from '../meta/object.ts';
import { deepEqual } from '../schema/equality.ts';

export type WriteForm = 'body' | 'patch';

export function withoutRepeatedOwners(
  object: KubeObject,
  form: WriteForm,
  warn: (text: string) => void,
): KubeObject {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return object;
  const kept: OwnerReference[] = [];
  const repeated: string[] = [];
  for (const owner of ownerReferences) {
    if (kept.some((other) => deepEqual(other, owner))) repeated.push(owner.uid);
    else kept.push(owner);
  }
  if (repeated.length === 0) return object;
  const when = form === 'patch' ? ' after mutating admission happens' : '';
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
  return withMetadata(object, { ...object.metadata, ownerReferences: kept });
}

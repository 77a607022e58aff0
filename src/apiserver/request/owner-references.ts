// Removes repeated owner references, with upstream's warning (endpoints/handlers/rest.go), which differs for
// patches: their result is checked later.
import { type KubeObject, type OwnerReference, withMetadata } from '../../meta/object.ts';

/** UIDs in the warning, which is a header. */
const maxShown = 100;

export type WriteForm = 'body' | 'patch';

export function withoutRepeatedOwners(
  object: KubeObject,
  form: WriteForm,
  warn: (text: string) => void,
): KubeObject {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return object;
  const unique = new Map<string, OwnerReference>();
  const repeated: string[] = [];
  for (const owner of ownerReferences) {
    const identity = identityOf(owner);
    if (unique.has(identity)) repeated.push(owner.uid);
    else unique.set(identity, owner);
  }
  if (repeated.length === 0) return object;
  const when = form === 'patch' ? ' after mutating admission happens' : '';
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.slice(0, maxShown).join(', ')}`,
  );
  return withMetadata(object, { ...object.metadata, ownerReferences: [...unique.values()] });
}

/** Equal for equal references. */
function identityOf(owner: OwnerReference): string {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

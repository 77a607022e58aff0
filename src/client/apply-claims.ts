// Applies the claims of a controller: adopts and releases objects by patching their owner references.
import { isInvalid, isNotFound } from '../meta/api-error.ts';
import type { Claims } from '../meta/claim.ts';
import type { KubeObject } from '../meta/object.ts';
import { ownerReferenceTo } from '../meta/owner.ts';
import type { ObjectName } from './resource.ts';
import type { ResourceClient } from './rest.ts';

export type ApplyClaims<T extends KubeObject> = {
  readonly client: ResourceClient<T>;
  readonly owner: KubeObject;
  /** Reads the owner from the server: the informer may not know yet that it is being deleted. */
  readonly readOwner: () => Promise<KubeObject>;
  /** Owned objects have this finalizer; absent: none. */
  readonly finalizer?: string;
  /** Called with every changed object as the server returned it. */
  readonly wrote?: (object: T) => void;
};

/** Returns all objects that the owner now controls. All patches are tried; then the first failure is thrown. */
export async function applyClaims<T extends KubeObject>(
  { owned, adopt, release }: Claims<T>,
  options: ApplyClaims<T>,
): Promise<readonly T[]> {
  const failures: unknown[] = [];
  const attempt = async (_object: T, patch: () => Promise<T | undefined>): Promise<T[]> => {
    try {
      const changed = await patch();
      if (changed !== undefined) options.wrote?.(changed);
      return changed === undefined ? [] : [changed];
    } catch (error) {
      if (!isNotFound(error)) failures.push(error);
      return [];
    }
  };
  if (adopt.length > 0) await requireOwner(options);
  for (const object of release) await attempt(object, () => releaseObject(options, object));
  const adopted: T[] = [];
  for (const object of adopt)
    adopted.push(...(await attempt(object, () => adoptObject(options, object))));
  if (failures.length > 0) throw failures[0];
  return [...owned, ...adopted];
}

async function requireOwner<T extends KubeObject>({
  owner,
  readOwner,
}: ApplyClaims<T>): Promise<void> {
  const { name, namespace, uid } = owner.metadata;
  const { metadata } = await readOwner();
  if (metadata.uid !== uid) {
    throw new Error(
      `Cannot adopt for ${owner.kind} "${namespace}/${name}": its uid is ${metadata.uid}, wanted ${uid}`,
    );
  }
  if (metadata.deletionTimestamp !== undefined) {
    throw new Error(`Cannot adopt for ${owner.kind} "${namespace}/${name}": it is being deleted`);
  }
}

/** The uid in the patch makes it fail when the object was replaced by another of the same name. */
function adoptObject<T extends KubeObject>(
  { client, owner, finalizer }: ApplyClaims<T>,
  object: T,
): Promise<T> {
  const { uid } = object.metadata;
  const added = finalizer === undefined ? {} : { finalizers: [finalizer] };
  const patch = { metadata: { ownerReferences: [ownerReferenceTo(owner)], uid, ...added } };
  return client.patch(nameOf(object), patch, { type: 'strategic' });
}

async function releaseObject<T extends KubeObject>(
  { client, owner, finalizer }: ApplyClaims<T>,
  object: T,
): Promise<T | undefined> {
  const reference = { $patch: 'delete', uid: owner.metadata.uid };
  const removed =
    finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  const { uid } = object.metadata;
  const patch = { metadata: { ownerReferences: [reference], uid, ...removed } };
  try {
    return await client.patch(nameOf(object), patch, { type: 'strategic' });
  } catch (error) {
    // The object has no owners any more, or was replaced by another of the same name: nothing to release.
    if (isInvalid(error)) return undefined;
    throw error;
  }
}

function nameOf({ metadata }: KubeObject): ObjectName {
  const { name = '', namespace } = metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

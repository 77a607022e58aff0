// Carries out what a controller claims: takes objects over and lets others go, by their owner references.
import { isInvalid, isNotFound } from '../meta/api-error.ts';
import type { Claims } from '../meta/claim.ts';
import type { KubeObject } from '../meta/object.ts';
import { ownerReferenceTo } from '../meta/owner.ts';
import type { ObjectName } from './resource.ts';
import type { ResourceClient } from './rest.ts';

export type ApplyClaims<T extends KubeObject> = {
  readonly client: ResourceClient<T>;
  readonly owner: KubeObject;
  /** Reads the owner from the server: a copy may be of one that is already going. */
  readonly readOwner: () => Promise<KubeObject>;
  /** Told of every object as the server answered. */
  readonly wrote?: (object: T) => void;
};

/** Returns all that belong to the owner now. The first failure is thrown after everything was tried. */
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
  for (const object of release) await attempt(object, () => letGo(options, object));
  const adopted: T[] = [];
  for (const object of adopt) adopted.push(...(await attempt(object, () => take(options, object))));
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

/** The uid in the patch makes it fail for another object of the same name. */
function take<T extends KubeObject>({ client, owner }: ApplyClaims<T>, object: T): Promise<T> {
  const { uid } = object.metadata;
  const patch = { metadata: { ownerReferences: [ownerReferenceTo(owner)], uid } };
  return client.patch(nameOf(object), patch, { type: 'strategic' });
}

async function letGo<T extends KubeObject>(
  { client, owner }: ApplyClaims<T>,
  object: T,
): Promise<T | undefined> {
  const reference = { $patch: 'delete', uid: owner.metadata.uid };
  const patch = { metadata: { ownerReferences: [reference], uid: object.metadata.uid } };
  try {
    return await client.patch(nameOf(object), patch, { type: 'strategic' });
  } catch (error) {
    // It has no owners any more, or is another object by now: there is nothing to let go.
    if (isInvalid(error)) return undefined;
    throw error;
  }
}

function nameOf({ metadata }: KubeObject): ObjectName {
  const { name = '', namespace } = metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

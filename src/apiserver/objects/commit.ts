// Turns one object change with what was reserved for it into one store transaction.
import type { KubeObject } from '../../meta/object.ts';
import type { Compare, Write } from '../../storage/store.ts';
import type { User } from '../access/user.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import { resourceOfKey } from '../cache/stored-object.ts';
import type { ApiContext } from '../context.ts';
import { isKept } from '../history/kept-resources.ts';
import type { Reservation } from './reservation.ts';

export type Commit = {
  readonly resource: Resource;
  readonly key: string;
  /** The revision that was read; 0 when the object must not exist. */
  readonly revision: number;
  /** Absent to remove the object. */
  readonly object?: KubeObject;
  readonly reservation: Reservation;
  /** Whose request it is; absent for the server's own. */
  readonly user?: User;
};

/** `conflict`: another write changed the object or allocated what was reserved; read again and retry. */
export type Committed =
  | { readonly cached: Cached }
  | { readonly removed: true }
  | { readonly conflict: 'object' | 'reservation' };

export const nothingReserved: Reservation = { compare: [], write: [] };

export async function commit(
  context: Pick<ApiContext, 'store' | 'resources' | 'history'>,
  change: Commit,
): Promise<Committed> {
  const { resource, key, revision, object, reservation } = change;
  const { codec, cache, definition } = resource;
  const compare: Compare[] = [{ key, revision }, ...reservation.compare];
  const write: Write[] = [
    object === undefined ? { delete: key } : put(resource, key, object),
    ...reservation.write,
  ];
  const outcome = await context.store.transact({ compare, write });
  await context.resources.caughtUp(outcome.revision);
  if (!outcome.committed) {
    return { conflict: outcome.failed.some((f) => f.key === key) ? 'object' : 'reservation' };
  }
  if (context.history !== undefined && change.user !== undefined && isKept(resourceOfKey(key)))
    context.history.noteUser(outcome.revision, change.user.name);
  if (object === undefined) return { removed: true };
  const cached = cache.getReadable(key);
  if (cached?.revision === outcome.revision) return { cached };
  // A later write is already in the cache: answer with what this one wrote.
  const value = codec.toValue(object);
  return {
    cached: codec.encode(key, value, { ...object, kind: definition.kind }, outcome.revision),
  };
}

function put({ codec, definition }: Resource, key: string, object: KubeObject): Write {
  const write = codec.put(key, object);
  const { ttlSeconds } = definition;
  return ttlSeconds === undefined ? write : { ...write, ttlSeconds };
}

/** The answer to a dry run: as if written, at the revision it would have replaced. */
export function asIfWritten(
  resource: Resource,
  key: string,
  object: KubeObject,
  revision: number,
): Cached {
  const { codec } = resource;
  return codec.encode(key, codec.toValue(object), object, revision);
}

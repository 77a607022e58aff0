// Turns one object change with what was reserved for it into one store transaction.
import { forbidden } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Compare, Write } from '../../storage/store.ts';
import type { User } from '../access/user.ts';
import type { AdmissionSteps } from '../admission/admission.ts';
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
  /** The subresource through which it is written, where quotas are enforced; absent: they are only counted. */
  readonly limitedAs?: string;
};

/** `conflict`: another write changed the object or allocated what was reserved; read again and retry. */
export type Committed =
  | { readonly cached: Cached }
  | { readonly removed: true }
  | { readonly conflict: 'object' | 'reservation' };

/** For a write that is admitted, where quotas are enforced. */
export const limited = (
  { enforcesQuotas }: Pick<AdmissionSteps, 'enforcesQuotas'>,
  subresource: string,
): Pick<Commit, 'limitedAs'> => (enforcesQuotas ? { limitedAs: subresource } : {});

export const nothingReserved: Reservation = { compare: [], write: [] };

export async function commit(
  context: Pick<ApiContext, 'store' | 'resources' | 'history' | 'quotas'>,
  change: Commit,
): Promise<Committed> {
  const { resource, key, revision, object, reservation } = change;
  const { codec, cache, definition } = resource;
  const charged = chargeQuotas(context, change);
  const compare: Compare[] = [{ key, revision }, ...reservation.compare, ...charged.compare];
  const write: Write[] = [
    object === undefined ? { delete: key } : put(resource, key, object),
    ...reservation.write,
    ...charged.write,
  ];
  const outcome = await context.store.transact({ compare, write });
  if (context.resources.revision() < outcome.revision)
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

/** Decided from the caches: where another write is faster, a comparison fails. Throws 403 where a quota is exceeded. */
function chargeQuotas(
  { quotas }: Pick<ApiContext, 'quotas'>,
  { resource, key, object, limitedAs }: Commit,
): Reservation {
  const { definition, cache } = resource;
  const before = cache.getReadable(key);
  const { namespace = '', name = '' } = (object ?? before?.object)?.metadata ?? {};
  if (!definition.namespaced || !quotas.concern(namespace, definition)) return nothingReserved;
  const change = {
    ...{ definition, namespace, before: before?.object, after: object },
    subresource: limitedAs ?? '',
  };
  const why = limitedAs === undefined ? undefined : quotas.refusal(change);
  if (why !== undefined) {
    throw forbidden({ group: definition.group, resource: definition.plural }, name, why);
  }
  return quotas.charge(change, key);
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

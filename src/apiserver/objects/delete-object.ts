// Deletes an object: at once, or by a mark that waits for its grace period and its finalizers.
import type { AnyKind } from '../../kinds/definition.ts';
import { conflict, notFound, serviceUnavailable } from '../../meta/api-error.ts';
import { groupResource, type KubeObject } from '../../meta/object.ts';
import type { User } from '../access/user.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import type { ApiContext } from '../context.ts';
import { withQuotaLock } from '../quota/quota-lock.ts';
import { asIfWritten, commit, nothingReserved } from './commit.ts';
import { kindName } from './create-object.ts';
import { type DeleteOptions, markDeleted } from './mark-deleted.ts';

export type DeleteRequest = {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** Admission of the delete; throws ApiError to refuse it. */
  readonly admit: () => void;
  /** Milliseconds. */
  readonly now: number;
  /** Absent for the server's own deletes. */
  readonly user?: User;
};

export type Deleted = {
  /** The last state, or the marked object. */
  readonly cached: Cached;
  readonly removed: boolean;
};

const maxAttempts = 64;

export async function deleteObject(context: ApiContext, request: DeleteRequest): Promise<Deleted> {
  request.admit();
  const { resource, namespace } = request;
  return withQuotaLock(context, resource, namespace, () => deleteAdmitted(context, request));
}

async function deleteAdmitted(context: ApiContext, request: DeleteRequest): Promise<Deleted> {
  let current = request;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const deleted = await tryDelete(context, current);
    if (deleted === undefined) continue;
    if (deleted !== 'marked') return deleted;
    // This request marked it: the preconditions held then.
    const { preconditions: _met, ...options } = request.options;
    current = { ...request, options };
  }
  throw serviceUnavailable('too many concurrent writes of the same object; try again');
}

async function tryDelete(
  context: ApiContext,
  request: DeleteRequest,
): Promise<Deleted | 'marked' | undefined> {
  const { resource, namespace, name, dryRun } = request;
  const { definition, codec, cache, view } = resource;
  const key = codec.key(definition.namespaced ? namespace : '', name);
  const live = cache.get(key);
  if (live === undefined)
    throw notFound({ group: definition.group, resource: definition.plural }, name);
  checkPreconditions(request, live.object);
  const { marked, isRemovable } = markDeleted(request, live.object);
  if (marked === live.object && !isRemovable) return { cached: view(live), removed: false };
  if (dryRun)
    return {
      cached: view(asIfWritten(resource, key, marked, live.revision)),
      removed: isRemovable,
    };
  const revision = live.revision;
  if (marked !== live.object && (!isRemovable || definition.graceSeconds !== undefined)) {
    const outcome = await commit(context, {
      resource,
      key,
      revision,
      object: marked,
      reservation: nothingReserved,
      ...by(request),
    });
    if (!('cached' in outcome)) return undefined;
    // Watchers see kinds with a grace period marked before they are removed, also when the period is zero.
    return isRemovable ? 'marked' : { cached: view(outcome.cached), removed: false };
  }
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  const reservation = reserve?.({ definition, before: live.object, dryRun }) ?? nothingReserved;
  const outcome = await commit(context, {
    ...{ resource, key, revision, reservation },
    ...by(request),
  });
  if (!('removed' in outcome)) return undefined;
  return { cached: view(asIfWritten(resource, key, marked, revision)), removed: true };
}

const by = ({ user }: DeleteRequest) => (user === undefined ? {} : { user });

type PreconditionCheck = Pick<DeleteRequest, 'resource' | 'name' | 'options'>;

/** Throws 409 where a precondition fails. */
export function checkPreconditions(
  { resource, name, options }: PreconditionCheck,
  object: KubeObject,
): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  const { definition } = resource;
  if (uid !== undefined && uid !== metadata.uid)
    throw preconditionFailed(definition, name, {
      what: 'UID',
      wanted: uid,
      found: metadata.uid ?? '',
    });
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const found = metadata.resourceVersion ?? '';
    throw preconditionFailed(definition, name, {
      what: 'ResourceVersion',
      wanted: resourceVersion,
      found,
    });
  }
}

type Mismatch = {
  readonly what: 'UID' | 'ResourceVersion';
  readonly wanted: string;
  readonly found: string;
};

/** A kind with finalizers of its own (Namespace) has a message of its own, as upstream. */
function preconditionFailed(
  definition: AnyKind,
  name: string,
  { what, wanted, found }: Mismatch,
): Error {
  const { group, plural, holdsDeletion } = definition;
  if (holdsDeletion !== undefined) {
    const why = `${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    return conflict({ group, resource: plural }, name, `Precondition failed: ${why}`);
  }
  const suspicion =
    what === 'UID'
      ? 'The object might have been deleted and then recreated'
      : 'The object might have been modified';
  const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found})`;
  const { group: storedGroup, kind } = kindName(definition);
  return conflict({ group: storedGroup, resource: kind }, name, `${why}. ${suspicion}`);
}

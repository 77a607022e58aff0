// Deleting an object: at once, or by a mark that waits for its grace period and its finalizers.
import type { AnyKind } from '../../kinds/definition.ts';
import { conflict, notFound, serviceUnavailable } from '../../meta/api-error.ts';
import { groupResource, type KubeObject, type ObjectMeta } from '../../meta/object.ts';
import { formatTime, parseTime } from '../../schema/time.ts';
import type { ApiContext } from '../context.ts';
import type { Cached } from '../resource-cache.ts';
import type { Resource } from '../resources.ts';
import { asIfWritten, commit, nothingReserved } from './commit.ts';
import { kindName } from './create-object.ts';

export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
};

export type DeleteRequest = {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** Milliseconds. */
  readonly now: number;
};

export type Deleted = {
  /** The last state, or the marked object that still waits. */
  readonly cached: Cached;
  readonly removed: boolean;
};

const attempts = 64;

export async function deleteObject(context: ApiContext, request: DeleteRequest): Promise<Deleted> {
  let current = request;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const deleted = await tryDelete(context, current);
    if (deleted === undefined) continue;
    if (deleted !== 'marked') return deleted;
    // The mark is ours: what the client demanded of the object held when it was written.
    const { preconditions: _met, ...options } = request.options;
    current = { ...request, options };
  }
  throw serviceUnavailable('the delete kept losing against concurrent writes, try again');
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
  const marked = mark(request, live.object);
  const gone = isFree(resource, marked);
  if (marked === live.object && !gone) return { cached: view(live), removed: false };
  if (dryRun)
    return { cached: view(asIfWritten(resource, key, marked, live.revision)), removed: gone };
  const revision = live.revision;
  if (marked !== live.object && (!gone || definition.graceSeconds !== undefined)) {
    const outcome = await commit(context, {
      resource,
      key,
      revision,
      object: marked,
      reservation: nothingReserved,
    });
    if (!('cached' in outcome)) return undefined;
    // Kinds with a grace period are seen marked before they go, also when the period is zero.
    return gone ? 'marked' : { cached: view(outcome.cached), removed: false };
  }
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  const reservation = reserve?.({ definition, before: live.object, dryRun }) ?? nothingReserved;
  const outcome = await commit(context, { resource, key, revision, reservation });
  if (!('removed' in outcome)) return undefined;
  return { cached: view(asIfWritten(resource, key, marked, revision)), removed: true };
}

type Demand = Pick<DeleteRequest, 'resource' | 'name' | 'options'>;

/** Throws 409 where it is not the object that the client means. */
export function checkPreconditions({ resource, name, options }: Demand, object: KubeObject): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  const { definition } = resource;
  if (uid !== undefined && uid !== metadata.uid)
    throw unmet(definition, name, { what: 'UID', wanted: uid, found: metadata.uid ?? '' });
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const found = metadata.resourceVersion ?? '';
    throw unmet(definition, name, { what: 'ResourceVersion', wanted: resourceVersion, found });
  }
}

type Unmet = {
  readonly what: 'UID' | 'ResourceVersion';
  readonly wanted: string;
  readonly found: string;
};

/** A kind that holds its deletion itself (Namespace) words it otherwise than the rest, upstream as here. */
function unmet(definition: AnyKind, name: string, { what, wanted, found }: Unmet): Error {
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

/** The object as the delete leaves it; the same object when there is nothing to change. */
function mark(request: DeleteRequest, object: KubeObject): KubeObject {
  const { definition } = request.resource;
  const finalizers = finalizersAfter(request.options, object.metadata);
  const graceful = definition.graceSeconds !== undefined;
  const held = finalizers.length > 0 || (definition.holdsDeletion?.(object) ?? false);
  if (object.metadata.deletionTimestamp !== undefined) return shorten(request, object, finalizers);
  if (!graceful && !held) return object;
  const wish = request.options.gracePeriodSeconds;
  const grace =
    definition.graceSeconds?.(object, {
      ...(wish === undefined ? {} : { gracePeriodSeconds: wish < 0 ? 1 : wish }),
    }) ?? 0;
  const marked = withMetadata(object, {
    ...generationAfter(object.metadata),
    deletionTimestamp: formatTime(request.now + grace * 1000),
    deletionGracePeriodSeconds: grace,
    finalizers,
  });
  return definition.markDeleting?.(marked) ?? marked;
}

const generationAfter = ({ generation }: ObjectMeta): { generation?: number } =>
  generation === undefined ? {} : { generation: generation + 1 };

/** A second delete may only shorten the time that is left. */
function shorten(
  request: DeleteRequest,
  object: KubeObject,
  finalizers: readonly string[],
): KubeObject {
  const { metadata } = object;
  const current = metadata.deletionGracePeriodSeconds ?? 0;
  const wish = request.options.gracePeriodSeconds;
  const period = wish === undefined ? current : wish < 0 ? 1 : wish;
  const sameFinalizers = finalizers.join() === (metadata.finalizers ?? []).join();
  if (period >= current && sameFinalizers) return object;
  const start = (parseTime(metadata.deletionTimestamp ?? '') ?? request.now) - current * 1000;
  const grace = Math.min(period, current);
  return withMetadata(object, {
    deletionTimestamp: formatTime(start + grace * 1000),
    deletionGracePeriodSeconds: grace,
    finalizers,
  });
}

function withMetadata(object: KubeObject, change: Partial<ObjectMeta>): KubeObject {
  const { finalizers: _old, ...metadata } = object.metadata;
  const { finalizers = [], ...marks } = change;
  return {
    ...object,
    metadata: { ...metadata, ...marks, ...(finalizers.length === 0 ? {} : { finalizers }) },
  };
}

/** What the wish about dependents does to the two finalizers that the garbage collector serves. */
function finalizersAfter(
  options: DeleteOptions,
  { finalizers = [] }: ObjectMeta,
): readonly string[] {
  const policy =
    options.propagationPolicy ??
    (options.orphanDependents === undefined
      ? undefined
      : options.orphanDependents
        ? 'Orphan'
        : 'Background');
  if (policy === undefined) return finalizers;
  const wanted =
    policy === 'Orphan' ? 'orphan' : policy === 'Foreground' ? 'foregroundDeletion' : undefined;
  const others = finalizers.filter(
    (f) => f === wanted || (f !== 'orphan' && f !== 'foregroundDeletion'),
  );
  return wanted === undefined || others.includes(wanted) ? others : [...others, wanted];
}

function isFree({ definition }: Resource, object: KubeObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0, deletionTimestamp } = object.metadata;
  if (finalizers.length > 0) return false;
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0) return false;
  return !(definition.holdsDeletion?.(object) ?? false);
}

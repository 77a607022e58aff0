// Updates an object: read, desired state, prepare, validate, one transaction; retried after a conflict.

import type { UpdateRules } from '../../kinds/definition.ts';
import {
  conflict,
  invalid,
  isAlreadyExists,
  notFound,
  serviceUnavailable,
} from '../../meta/api-error.ts';
import { invalid as invalidField } from '../../meta/field-error.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { groupResource, withMetadata } from '../../meta/object.ts';
import { validateObjectMetaUpdate } from '../../meta/validate-metadata.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import { recordUpdate } from '../patch/managed-fields.ts';
import { asIfWritten, commit, limited, nothingReserved } from './commit.ts';
import { createObject, kindName } from './create-object.ts';
import { type Check, findErrors } from './find-errors.ts';
import { recordLarge } from './record-large.ts';
import type { Reservation } from './reservation.ts';
import { uidConflict } from './uid-conflict.ts';
import { withWriteLock } from './write-lock.ts';

export type UpdateRequest = {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly rules: UpdateRules<KubeObject>;
  /**
   * The desired object, decoded and defaulted, from the live one; called again after a conflict. Admission sees
   * what it returns.
   */
  readonly desired: (live: KubeObject | undefined) => KubeObject | Promise<KubeObject>;
  /**
   * How a missing object is created; absent: it is not found. A client that creates by an update needs the right to create,
   * so each caller says how that is authorized.
   */
  readonly create?: CreateOnUpdate;
  /** Whether the request must name the version it replaces (PUT of Leases). */
  readonly needsVersion: boolean;
  /** Whether a uid in the wanted object is a precondition (PUT); elsewhere it is just a field that cannot change. */
  readonly checksUid: boolean;
  readonly write: WriteRequest;
  readonly recordManagers?: (live: KubeObject | undefined, object: KubeObject) => KubeObject;
};

export type CreateOnUpdate = {
  /** Throws 403. The server itself may do anything. */
  readonly authorize: (() => void) | 'as the server';
};

export type Updated = { readonly cached: Cached; readonly created: boolean };

/** Of the writer that holds the lock, against first attempts of others. */
const maxAttempts = 64;

export async function updateObject(context: ApiContext, request: UpdateRequest): Promise<Updated> {
  const updated = await tryUpdate(context, request);
  if (updated !== undefined) return updated;
  const { resource, namespace, name } = request;
  const key = resource.codec.key(resource.definition.namespaced ? namespace : '', name);
  return withWriteLock(context.store, key, () => updateAgain(context, request));
}

async function updateAgain(context: ApiContext, request: UpdateRequest): Promise<Updated> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const updated = await tryUpdate(context, request);
    if (updated !== undefined) return updated;
  }
  throw serviceUnavailable('too many concurrent writes of the same object; try again');
}

async function tryUpdate(
  context: ApiContext,
  request: UpdateRequest,
): Promise<Updated | undefined> {
  const { resource, namespace, name, write } = request;
  const { definition, codec, cache, view } = resource;
  const key = codec.key(definition.namespaced ? namespace : '', name);
  const stored = cache.get(key);
  if (stored === undefined) return createMissing(context, request);
  write.pace?.grow(stored.json.length);
  const live = view(stored);
  const before = live.object;
  const wanted = write.admission.mutate(before, await request.desired(before));
  if (write.pace?.isLarge()) await write.pace.pause();
  checkVersion(request, wanted, live);
  const managed = await managersOf(request, before, preserveIdentity(before, wanted));
  const reservation = reserveFor(context, request, before, managed);
  const after = prepare(request, before, reservation.object ?? managed);
  const errors = await findErrors(write.pace, checksOf(request, before, after));
  if (errors.length > 0) throw invalid(kindName(definition), after.metadata.name ?? '', errors);
  for (const warning of request.rules.warnOnUpdate?.(before, after) ?? []) write.warn(warning);
  const validating = write.admission.validate(before, after);
  if (validating !== undefined) await validating;
  // An object that is encrypted with an old key is rewritten although nothing changes: that is how keys are rotated.
  if (deepEqual(after, before) && !(await needsRewrite(context, key, write)))
    return { cached: live, created: false };
  await write.pace?.pause();
  const object = definition.storedAs?.toStored(after) ?? after;
  if (write.dryRun)
    return { cached: view(asIfWritten(resource, key, object, stored.revision)), created: false };
  if (isReleased(resource, after)) return remove(context, { request, key, stored, after });
  const outcome = await commit(context, {
    resource,
    key,
    revision: stored.revision,
    object,
    reservation,
    user: write.user,
    ...limited(write.admission, request.subresource),
  });
  return 'cached' in outcome ? { cached: view(outcome.cached), created: false } : undefined;
}

async function needsRewrite(
  { store }: ApiContext,
  key: string,
  { dryRun }: WriteRequest,
): Promise<boolean> {
  return !dryRun && store.isStale !== undefined && (await store.isStale(key));
}

async function createMissing(
  context: ApiContext,
  request: UpdateRequest,
): Promise<Updated | undefined> {
  const { resource, namespace, name, write, recordManagers } = request;
  const { definition } = resource;
  if (request.create === undefined) {
    throw notFound({ group: definition.group, resource: definition.plural }, name);
  }
  const { authorize } = request.create;
  if (authorize !== 'as the server') authorize();
  const object = await request.desired(undefined);
  const { uid, resourceVersion: _ignored, ...metadata } = object.metadata;
  if (uid !== undefined) throw uidConflict({ definition, namespace, name, uid, found: '' });
  try {
    const cached = await createObject(context, {
      resource,
      namespace,
      object: { ...object, metadata: { ...metadata, name } },
      write,
      ...(recordManagers === undefined
        ? {}
        : { recordManagers: (o) => recordManagers(undefined, o) }),
    });
    return { cached, created: true };
  } catch (error) {
    // Another request created it meanwhile: now it can be updated.
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}

/** The version that the client read, if it named one; checked before validation. */
function checkVersion(
  { resource, needsVersion, checksUid, namespace, name }: UpdateRequest,
  wanted: KubeObject,
  live: Cached,
): void {
  const { definition } = resource;
  const target = { group: definition.group, resource: definition.plural };
  const { resourceVersion = '0', uid } = wanted.metadata;
  const found = live.object.metadata.uid ?? '';
  if (checksUid && uid !== undefined && uid !== found)
    throw uidConflict({ definition, namespace, name, uid, found });
  if (resourceVersion !== '0') {
    if (resourceVersion === live.object.metadata.resourceVersion) return;
    throw conflict(
      target,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  if (needsVersion) {
    const error = invalidField('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: definition.group, kind: definition.plural }, name, [error]);
  }
}

const preservedFields = [
  'namespace',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
] as const;
/** Set by no client: the namespace is that of the path, and selfLink is no longer stored. */
const ignoredFields: ReadonlySet<string> = new Set([
  'namespace',
  'resourceVersion',
  'generation',
  'selfLink',
]);
/** A client may leave these out; another value is refused by validation. */
const optionalFields = ['uid', 'deletionGracePeriodSeconds'] as const;

/** Keeps what an update never changes, whatever the client sent. */
export function preserveIdentity(before: KubeObject, wanted: KubeObject): KubeObject {
  const metadata: Record<string, unknown> = {};
  const sent = wanted.metadata as Readonly<Record<string, unknown>>;
  for (const name in sent) {
    if (!ignoredFields.has(name)) metadata[name] = sent[name];
  }
  for (const name of preservedFields) {
    const old = before.metadata[name];
    if (old !== undefined) metadata[name] = old;
  }
  for (const name of optionalFields) {
    const old = before.metadata[name];
    if (old !== undefined && metadata[name] === undefined) metadata[name] = old;
  }
  return withMetadata(wanted, metadata as ObjectMeta);
}

function managersOf(
  request: UpdateRequest,
  before: KubeObject,
  after: KubeObject,
): KubeObject | Promise<KubeObject> {
  const { recordManagers, rules } = request;
  const { resetFields } = rules;
  const { pace, manager, now } = request.write;
  const record = {
    before,
    after,
    schema: request.resource.definition.schema,
    manager,
    subresource: request.subresource,
    apiVersion: after.apiVersion,
    now,
    ...(resetFields === undefined ? {} : { resetFields }),
  };
  if (pace?.isLarge()) {
    const own = recordManagers && ((object: KubeObject) => recordManagers(before, object));
    return recordLarge({ pace, record, recordManagers: own });
  }
  return recordManagers === undefined ? recordUpdate(record) : recordManagers(before, after);
}

function reserveFor(
  context: ApiContext,
  request: UpdateRequest,
  before: KubeObject,
  after: KubeObject,
): Reservation {
  const { definition } = request.resource;
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  if (reserve === undefined || request.subresource !== '') return nothingReserved;
  return reserve({ definition, before, after, dryRun: request.write.dryRun });
}

/** Subresources that write the spec; a binding counts as the end of the creation. */
const changesSpec: ReadonlySet<string> = new Set(['', 'scale', 'ephemeralcontainers', 'resize']);

function prepare(
  { resource, rules, subresource, write }: UpdateRequest,
  before: KubeObject,
  sent: KubeObject,
): KubeObject {
  const { definition } = resource;
  const prepared = rules.prepareUpdate?.(before, sent, { now: write.now }) ?? sent;
  const counts = changesSpec.has(subresource);
  const grows = counts && (definition.generationChanges?.(before, prepared) ?? false);
  if (!grows) return prepared;
  const generation = (before.metadata.generation ?? 0) + 1;
  return { ...prepared, metadata: { ...prepared.metadata, generation } };
}

function checksOf(
  { rules }: UpdateRequest,
  before: KubeObject,
  after: KubeObject,
): readonly Check[] {
  return [
    () => validateObjectMetaUpdate(before.metadata, after.metadata, 'metadata'),
    () => rules.validateUpdate(before, after),
  ];
}

/** A deleted object whose last finalizer this update removes: it is removed now. */
function isReleased({ definition }: Resource, after: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = after.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0 || finalizers.length > 0)
    return false;
  return !(definition.holdsDeletion?.(after) ?? false);
}

type Removal = {
  readonly request: UpdateRequest;
  readonly key: string;
  readonly stored: Cached;
  readonly after: KubeObject;
};

async function remove(
  context: ApiContext,
  { request, key, stored, after }: Removal,
): Promise<Updated | undefined> {
  const { resource, write } = request;
  const { definition } = resource;
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  const reservation =
    reserve?.({ definition, before: stored.object, dryRun: write.dryRun }) ?? nothingReserved;
  const outcome = await commit(context, {
    ...{ resource, key, revision: stored.revision, reservation },
    user: write.user,
  });
  if (!('removed' in outcome)) return undefined;
  const last = definition.storedAs?.toStored(after) ?? after;
  const cached = resource.view(asIfWritten(resource, key, last, stored.revision));
  return { cached, created: false };
}

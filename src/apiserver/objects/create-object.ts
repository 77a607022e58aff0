// Creating an object: names, reservation, preparation, validation, one transaction.
import type { AnyKind } from '../../kinds/definition.ts';
import {
  alreadyExists,
  badRequest,
  generatedNameTaken,
  invalid,
  type KindName,
  serviceUnavailable,
} from '../../meta/api-error.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { groupResource, withMetadata } from '../../meta/object.ts';
import { validateObjectMeta } from '../../meta/validate-metadata.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { Resource } from '../cache/resources.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import { recordUpdate } from '../patch/managed-fields.ts';
import { withQuotaLock } from '../quota/quota-lock.ts';
import { asIfWritten, commit, limited, nothingReserved } from './commit.ts';
import { type Check, findErrors } from './find-errors.ts';
import { recordLarge } from './record-large.ts';

export type CreateRequest = {
  readonly resource: Resource;
  /** Empty for cluster-wide kinds. */
  readonly namespace: string;
  /** Decoded and defaulted, in the kind's served form. */
  readonly object: KubeObject;
  readonly write: WriteRequest;
  /** Records managedFields; absent: for the manager of the request, as Update. */
  readonly recordManagers?: (object: KubeObject) => KubeObject;
};

/** Against concurrent writes that allocate the same address or port. */
const maxAttempts = 16;
/** Generated names that are tried for one object; upstream's number. */
const maxNameAttempts = 8;
/** Generated names are cut so that five letters fit into a DNS label. */
const maxPrefixLength = 58;

/** What creating needs of the server. */
type CreateContext = Pick<
  ApiContext,
  'store' | 'resources' | 'reserve' | 'quotas' | 'newUid' | 'randomSuffix' | 'history'
>;

export async function createObject(
  context: CreateContext,
  request: CreateRequest,
): Promise<Cached> {
  if (request.write.pace?.isLarge()) await request.write.pace.pause();
  const { admission } = request.write;
  const becomingReady = admission.ready(request.object);
  if (becomingReady !== undefined) await becomingReady;
  const object = admission.mutate(undefined, request.object);
  const admitted = { ...request, object };
  return withQuotaLock(context, request.resource, request.namespace, () =>
    createAdmitted(context, admitted),
  );
}

async function createAdmitted(context: CreateContext, admitted: CreateRequest): Promise<Cached> {
  let nameConflicts = 0;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const outcome = await tryCreate(context, admitted);
    if ('object' in outcome) return outcome;
    if (outcome.nameTaken === undefined) continue;
    nameConflicts += 1;
    if (nameConflicts === maxNameAttempts) throw outcome.nameTaken;
  }
  throw serviceUnavailable('too many concurrent writes for the same addresses or ports; try again');
}

/** The error when a generated name exists already; absent when another write was first. */
type Conflict = { readonly nameTaken?: Error };

async function tryCreate(
  context: CreateContext,
  request: CreateRequest,
): Promise<Cached | Conflict> {
  const { resource, write } = request;
  const { definition, codec, view } = resource;
  const named = withIdentity(context, request);
  if (write.pace?.isLarge()) await write.pace.pause();
  const managed = await managersOf(request, named);
  const reservation = reserveFor(context, resource, managed, write.dryRun);
  const object = prepare(request, reservation.object ?? managed);
  const errors = await findErrors(write.pace, checksOf(request, object));
  if (errors.length > 0) throw invalid(kindName(definition), object.metadata.name ?? '', errors);
  for (const warning of definition.create.warnOnCreate?.(object) ?? []) write.warn(warning);
  const validating = write.admission.validate(undefined, object);
  if (validating !== undefined) await validating;
  const key = codec.key(object.metadata.namespace ?? '', object.metadata.name ?? '');
  const conflict = checkFree(request, key, object.metadata);
  if (conflict !== undefined) return conflict;
  const stored = definition.storedAs?.toStored(object) ?? object;
  if (write.pace?.isLarge()) await write.pace.pause();
  if (write.dryRun) return view(asIfWritten(resource, key, stored, 0));
  const outcome = await commit(context, {
    resource,
    key,
    revision: 0,
    object: stored,
    reservation,
    user: write.user,
    ...limited(write.admission, ''),
  });
  return 'cached' in outcome ? view(outcome.cached) : {};
}

/** Throws where the name exists and no other can be generated. */
function checkFree(
  { resource, object }: CreateRequest,
  key: string,
  { name = '', generateName }: ObjectMeta,
): Conflict | undefined {
  const { definition, cache } = resource;
  // As upstream: that the object exists is enough.
  if (cache.isUnreadable(key))
    throw alreadyExists({ group: definition.group, resource: definition.plural }, name);
  const found = cache.getReadable(key);
  if (found === undefined) return undefined;
  const isRandom = object.metadata.name === undefined && !definition.generatesNoLetters;
  const error = existing(resource, found.object, Boolean(generateName));
  if (generateName && isRandom) return { nameTaken: error };
  throw error;
}

/** With a generateName the error says so, even where the client chose the name. */
function existing({ definition }: Resource, found: KubeObject, isGenerated: boolean): Error {
  const resource = { group: definition.group, resource: definition.plural };
  const makeError = isGenerated ? generatedNameTaken : alreadyExists;
  const error = makeError(resource, found.metadata.name ?? '');
  if (found.metadata.deletionTimestamp === undefined) return error;
  const { status } = error;
  const message = `object is being deleted: ${status.message ?? ''}`;
  return Object.assign(error, { message, status: { ...status, message } });
}

/** Set by the server; what the client sent is dropped. */
const serverFields = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
]);

function withIdentity(context: CreateContext, request: CreateRequest): KubeObject {
  const { resource, namespace, object, write } = request;
  const { definition } = resource;
  checkIdentity(request);
  const { name: requestedName, generateName } = object.metadata;
  const name =
    requestedName ??
    (generateName ? generatedName(definition, generateName, context.randomSuffix) : undefined);
  // Assigned one by one: spreads of optional parts cost several times as much.
  const metadata: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = {};
  if (name !== undefined) metadata.name = name;
  if (generateName !== undefined) metadata.generateName = generateName;
  if (definition.namespaced) metadata.namespace = namespace;
  metadata.uid = context.newUid();
  // For kinds without a generation upstream keeps what the client sent.
  const generation = definition.generationChanges ? 1 : object.metadata.generation;
  if (generation !== undefined) metadata.generation = generation;
  metadata.creationTimestamp = write.now;
  for (const field in object.metadata) {
    if (!serverFields.has(field)) copyField(field as keyof ObjectMeta, object.metadata, metadata);
  }
  const identified = withMetadata(object, metadata);
  // Some defaults depend on the name, which was unknown when the body was decoded.
  return requestedName === undefined && name !== undefined
    ? (definition.defaults?.(identified) ?? identified)
    : identified;
}

function generatedName(
  { generatesNoLetters }: AnyKind,
  prefix: string,
  randomSuffix: () => string,
): string {
  return generatesNoLetters ? prefix : prefix.slice(0, maxPrefixLength) + randomSuffix();
}

function copyField<K extends keyof ObjectMeta>(
  field: K,
  from: ObjectMeta,
  to: { -readonly [F in keyof ObjectMeta]: ObjectMeta[F] },
): void {
  to[field] = from[field];
}

function checkIdentity({ resource, namespace, object }: CreateRequest): void {
  const { resourceVersion, namespace: bodyNamespace } = object.metadata;
  if (resourceVersion !== undefined && resourceVersion !== '0') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const isNamespaced = resource.definition.namespaced;
  if (isNamespaced && bodyNamespace !== undefined && bodyNamespace !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

function managersOf(
  { resource, write, recordManagers }: CreateRequest,
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  const { pace, manager, now } = write;
  const { resetFields } = resource.definition.update;
  const record = {
    after: object,
    schema: resource.definition.schema,
    manager,
    subresource: '',
    apiVersion: object.apiVersion,
    now,
    ...(resetFields === undefined ? {} : { resetFields }),
  };
  if (pace?.isLarge()) return recordLarge({ pace, record, recordManagers });
  return recordManagers === undefined ? recordUpdate(record) : recordManagers(object);
}

function reserveFor(
  context: CreateContext,
  { definition }: Resource,
  after: KubeObject,
  dryRun: boolean,
) {
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  return reserve === undefined ? nothingReserved : reserve({ definition, after, dryRun });
}

function prepare({ resource, write }: CreateRequest, object: KubeObject): KubeObject {
  const { prepareCreate } = resource.definition.create;
  return prepareCreate?.(object, { now: write.now, user: write.user }) ?? object;
}

function checksOf({ resource }: CreateRequest, object: KubeObject): readonly Check[] {
  const { namespaced, nameRule, create } = resource.definition;
  return [
    () => validateObjectMeta({ meta: object.metadata, namespaced, nameRule }),
    () => create.validateCreate(object),
  ];
}

/** Messages about what is wrong with an object name the kind under which it is stored. */
export function kindName({ group, kind, storedAs }: AnyKind): KindName {
  return { group: storedAs?.group ?? group, kind };
}

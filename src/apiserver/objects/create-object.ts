// Creating an object: names, reservation, preparation, validation, one transaction.
import type { AnyKind } from '../../kinds/definition.ts';
import {
  alreadyExists,
  badRequest,
  invalid,
  type KindName,
  serviceUnavailable,
} from '../../meta/api-error.ts';
import { joined } from '../../meta/field-error.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { groupResource } from '../../meta/object.ts';
import { validateObjectMeta } from '../../meta/validate-metadata.ts';
import type { ApiContext, WriteRequest } from '../context.ts';
import { recordUpdate } from '../patch/managed-fields.ts';
import type { Cached } from '../resource-cache.ts';
import type { Resource } from '../resources.ts';
import { asIfWritten, commit, nothingReserved } from './commit.ts';

export type CreateRequest = {
  readonly resource: Resource;
  /** Empty for cluster-wide kinds. */
  readonly namespace: string;
  /** Decoded and defaulted, in the kind's served form. */
  readonly object: KubeObject;
  readonly write: WriteRequest;
  /** Says who set which field; absent: the manager of the request, by Update. */
  readonly recordManagers?: (object: KubeObject) => KubeObject;
};

/** Tries against others that take the same address, port or generated name. */
const attempts = 16;
/** Generated names are cut so that five letters fit into a DNS label. */
const longestPrefix = 58;

export async function createObject(context: ApiContext, request: CreateRequest): Promise<Cached> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const created = await tryCreate(context, request);
    if (created !== undefined) return created;
  }
  throw serviceUnavailable('the write kept losing against concurrent writes, try again');
}

async function tryCreate(context: ApiContext, request: CreateRequest): Promise<Cached | undefined> {
  const { resource, write } = request;
  const { definition, codec, cache, view } = resource;
  const named = withIdentity(context, request);
  const managed = managersOf(request, named);
  const reservation = reserveFor(context, resource, managed, write.dryRun);
  const object = prepare(request, reservation.object ?? managed);
  const { name = '', namespace = '', generateName } = object.metadata;
  const key = codec.key(namespace, name);
  const found = cache.get(key);
  if (found !== undefined) {
    if (generateName && request.object.metadata.name === undefined) return undefined;
    throw existing(resource, found.object);
  }
  for (const warning of definition.create.warnOnCreate?.(object) ?? []) write.warn(warning);
  const stored = definition.storedAs?.toStored(object) ?? object;
  if (write.dryRun) return view(asIfWritten(resource, key, stored, 0));
  const outcome = await commit(context, {
    resource,
    key,
    revision: 0,
    object: stored,
    reservation,
  });
  return 'cached' in outcome ? view(outcome.cached) : undefined;
}

function existing({ definition }: Resource, found: KubeObject): Error {
  const resource = { group: definition.group, resource: definition.plural };
  const error = alreadyExists(resource, found.metadata.name ?? '');
  if (found.metadata.deletionTimestamp === undefined) return error;
  const { status } = error;
  const message = `object is being deleted: ${status.message ?? ''}`;
  return Object.assign(error, { message, status: { ...status, message } });
}

/** What the server decides; whatever the client said of it is dropped. */
const decidedHere = new Set([
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

function withIdentity(context: ApiContext, request: CreateRequest): KubeObject {
  const { resource, namespace, object, write } = request;
  const { definition } = resource;
  checkIdentity(request);
  const { name: given, generateName } = object.metadata;
  const name =
    given ??
    (generateName ? generateName.slice(0, longestPrefix) + context.randomSuffix() : undefined);
  // Assigned one by one: spreading parts that may be absent costs several times as much.
  const metadata: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = {};
  if (name !== undefined) metadata.name = name;
  if (generateName !== undefined) metadata.generateName = generateName;
  if (definition.namespaced) metadata.namespace = namespace;
  metadata.uid = context.newUid();
  if (definition.generationChanges !== undefined) metadata.generation = 1;
  metadata.creationTimestamp = write.now;
  for (const field in object.metadata) {
    if (!decidedHere.has(field)) copyField(field as keyof ObjectMeta, object.metadata, metadata);
  }
  const identified = { ...object, metadata };
  // Some defaults follow the name, which was not there when the body was decoded.
  return given === undefined && name !== undefined
    ? (definition.defaults?.(identified) ?? identified)
    : identified;
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
): KubeObject {
  if (recordManagers !== undefined) return recordManagers(object);
  return recordUpdate({
    after: object,
    schema: resource.definition.schema,
    manager: write.manager,
    subresource: '',
    apiVersion: object.apiVersion,
    now: write.now,
  });
}

function reserveFor(
  context: ApiContext,
  { definition }: Resource,
  after: KubeObject,
  dryRun: boolean,
) {
  const reserve = context.reserve.get(groupResource(definition.group, definition.plural));
  return reserve === undefined ? nothingReserved : reserve({ definition, after, dryRun });
}

function prepare({ resource, write }: CreateRequest, object: KubeObject): KubeObject {
  const { definition } = resource;
  const prepared: KubeObject =
    definition.create.prepareCreate?.(object, { now: write.now, user: write.user }) ?? object;
  const { namespaced, nameRule } = definition;
  const ofMetadata = validateObjectMeta({ meta: prepared.metadata, namespaced, nameRule });
  const errors = joined([ofMetadata, definition.create.validateCreate(prepared)]);
  if (errors.length > 0) throw invalid(kindName(definition), prepared.metadata.name ?? '', errors);
  return prepared;
}

/** Messages about what is wrong with an object name the kind under which it is stored. */
export function kindName({ group, kind, storedAs }: AnyKind): KindName {
  return { group: storedAs?.group ?? group, kind };
}

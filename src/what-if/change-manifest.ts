// An object of a manifest, as `kubectl apply` would make or change it.
import { applyObject } from '../apiserver/patch/server-side-apply.ts';
import { decodeStrict } from '../apiserver/request/decode-body.ts';
import { allKinds } from '../kinds/all.ts';
import type { AnyKind } from '../kinds/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import { hasClusterIP } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { isApiError, notFound } from '../meta/api-error.ts';
import { cliManager, kubectlManager } from '../meta/field-managers.ts';
import {
  groupVersion,
  type KubeObject,
  type ManagedFieldsEntry,
  objectKey,
  withMetadata,
} from '../meta/object.ts';
import { lastAppliedAnnotation } from '../meta/well-known-annotations.ts';
import { deepEqual } from '../schema/equality.ts';
import type { JsonObject } from '../schema/json-object.ts';
import { formatTime } from '../schema/time.ts';
import { admitCreate, admitStored, admitUpdate } from '../snapshot/admit-object.ts';
import { madeUid } from '../snapshot/made-names.ts';
import { readyUnlessReported } from '../snapshot/made-up-cluster.ts';
import { createdPod } from '../snapshot/settle-workloads.ts';
import { isRead, type SnapshotKind, snapshotKinds } from '../snapshot/snapshot.ts';
import { decodeWorkload, isLenientWorkload, workloadPods } from '../snapshot/workload-pods.ts';
import { type Change, ChangeError, type ObjectRef, refText, type WorkloadKind } from './change.ts';
import { type Draft, requireRead } from './draft.ts';
import { isControlledBy } from './lose-pods.ts';
import { scaleByPods } from './scale-by-pods.ts';
import { counted } from './words.ts';

type ManifestChange = Extract<Change, { kind: 'manifest' }>;

/** Throws ChangeError with the position in the file, and what the API server says. */
export function applyManifest(draft: Draft, change: ManifestChange, namespace: string): void {
  const { source, line, object } = change.manifest;
  try {
    applyInNamespace(draft, change, namespace);
  } catch (error) {
    if (!isApiError(error) && !(error instanceof ChangeError)) throw error;
    const { kind, metadata } = object;
    throw new ChangeError(`${source}:${line}: ${kind} "${metadata.name}": ${error.message}`);
  }
}

function applyInNamespace(draft: Draft, change: ManifestChange, namespace: string): void {
  const { object, duplicates } = change.manifest;
  if (!object.metadata.name) throw new ChangeError('resource name may not be empty');
  if (isLenientWorkload(object)) {
    applyWorkload(draft, withNamespace(object, namespace), change);
    return;
  }
  const definition = definitionOf(object);
  const list = listOfDefinition(definition);
  if (definition === undefined || list === undefined) {
    draft.assumptions.add(`Objects of kind ${object.kind} are left out: they change no Service`);
    return;
  }
  // As kubectl validates before it sends.
  decodeStrict(definition, object as unknown as JsonObject, duplicates);
  const sent = definition.namespaced ? withNamespace(object, namespace) : object;
  checkNamespace(draft, definition, sent);
  const key = objectKey(sent.metadata);
  requireRead(draft, list, { text: 'apply', namespace: sent.metadata.namespace });
  const before = draft.get(list, key) as KubeObject | undefined;
  if (before === undefined) createObject(draft, { list, definition, sent, change });
  else updateObject(draft, { list, definition, sent, change, before });
}

function definitionOf({ apiVersion, kind }: KubeObject): AnyKind | undefined {
  const found = allKinds.find(
    (one) => one.kind === kind && groupVersion(one.group, one.version) === apiVersion,
  );
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  if (found === undefined && allKinds.some((one) => one.kind === kind && one.group === group)) {
    throw new ChangeError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }
  return found;
}

function listOfDefinition(definition: AnyKind | undefined): SnapshotKind | undefined {
  const found = Object.entries(snapshotKinds).find(([, one]) => one === definition);
  return found?.[0] as SnapshotKind | undefined;
}

const withNamespace = (object: KubeObject, namespace: string): KubeObject =>
  withMetadata(object, {
    ...object.metadata,
    namespace: object.metadata.namespace || namespace,
  });

function checkNamespace(draft: Draft, { namespaced }: AnyKind, { metadata }: KubeObject): void {
  const { namespace = '' } = metadata;
  if (!namespaced || !isRead(draft.snapshot, 'namespaces')) return;
  if (draft.get('namespaces', namespace) === undefined) {
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
  }
  const { namespaces } = draft.snapshot;
  if (namespaces !== undefined && !namespaces.includes(namespace)) {
    throw new ChangeError(`only namespace ${namespaces.join(', ')} was read`);
  }
}

type Applied = {
  readonly list: SnapshotKind;
  readonly definition: AnyKind;
  readonly sent: KubeObject;
  readonly change: ManifestChange;
};

function createObject(draft: Draft, { list, definition, sent, change }: Applied): void {
  // With who owns which field, for a later document about the same object.
  const merged = mergeApplied(draft, definition, { sent });
  const decoded = decodeStrict(definition, merged);
  const admission = { now: draft.now, reserver: draft.reserver() };
  const object =
    list === 'nodes'
      ? readyUnlessReported(admitStored(definition, decoded, admission) as Node)
      : admitCreate(definition, decoded, admission);
  draft.put(list, object);
  draft.effects.push(`${change.text}: ${definition.kind} ${objectKey(object.metadata)} created`);
  if (list === 'nodes') draft.assumptions.add('New nodes become ready');
  if (list === 'services') assumeOfNewService(draft, object as Service);
}

function assumeOfNewService(draft: Draft, service: Service): void {
  if (hasClusterIP(service)) {
    draft.assumptions.add('Addresses and node ports that a new Service does not name are made up');
  }
  if (service.spec.type === 'LoadBalancer') {
    draft.assumptions.add('A new Service of type LoadBalancer has no address yet');
  }
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { resourceVersion: _version, uid: _uid, managedFields: _fields, ...rest } = object.metadata;
  return withMetadata(object, rest);
}

function updateObject(
  draft: Draft,
  { list, definition, sent, change, before }: Applied & { readonly before: KubeObject },
): void {
  const merged = mergeApplied(draft, definition, { sent, live: asAppliedOnce(before) });
  const decoded = decodeStrict(definition, merged);
  const admission = { now: draft.now, reserver: draft.reserver() };
  const after = admitUpdate(definition, { before, sent: decoded }, admission);
  const isSame = deepEqual(contentOf(after), contentOf(before));
  if (!isSame) draft.put(list, after);
  draft.effects.push(
    `${change.text}: ${definition.kind} ${objectKey(after.metadata)} ${isSame ? 'unchanged' : 'configured'}`,
  );
}

type ServerSideApply = { readonly sent: KubeObject; readonly live?: KubeObject };

function mergeApplied(
  { now }: Draft,
  definition: AnyKind,
  { sent, live }: ServerSideApply,
): JsonObject {
  const { resetFields } = definition.update;
  const { object } = applyObject({
    ...{ applied: withoutServerFields(sent), schema: definition.schema, kind: definition },
    ...(live === undefined ? {} : { live }),
    manager: live === undefined ? kubectlManager : applierOf(live),
    force: true,
    subresource: '',
    now: formatTime(now),
    ...(resetFields === undefined ? {} : { resetFields }),
  });
  return object as JsonObject;
}

/** Who set which field, and what was applied last, are for the next apply. */
function contentOf(object: KubeObject): KubeObject {
  const { managedFields: _fields, generation: _count, annotations, ...metadata } = object.metadata;
  const { [lastAppliedAnnotation]: _last, ...others } = annotations ?? {};
  return withMetadata(object, { ...metadata, annotations: others });
}

/** What `kubectl apply` writes without --server-side. */
const clientSideManager = 'kubectl-client-side-apply';

const isApply = ({ operation }: ManagedFieldsEntry): boolean => operation === 'Apply';

/** Fields that were applied by clients count as applied: what a manifest no longer has is removed, as kubectl itself does on its way to server-side apply. */
function asAppliedOnce(live: KubeObject): KubeObject {
  const entries = live.metadata.managedFields;
  if (entries === undefined || entries.some(isApply)) return live;
  const managedFields = entries.map((one) =>
    one.manager === clientSideManager
      ? { ...one, manager: kubectlManager, operation: 'Apply' }
      : one,
  );
  return withMetadata(live, { ...live.metadata, managedFields });
}

/** The one that applied it before, so that its fields are replaced. */
function applierOf({ metadata }: KubeObject): string {
  const appliers = (metadata.managedFields ?? []).filter(isApply).map(({ manager }) => manager);
  const known = [kubectlManager, cliManager].find((one) => appliers.includes(one));
  return known ?? appliers[0] ?? kubectlManager;
}

/** Of kinds of which the pods alone are known. */
function applyWorkload(draft: Draft, object: KubeObject, change: ManifestChange): void {
  const { namespace = '', name = '' } = object.metadata;
  requireRead(draft, 'pods', { text: 'apply', namespace });
  const workload = decodeWorkload(
    withMetadata(object, { ...object.metadata, uid: madeUid(object.kind, `${namespace}/${name}`) }),
  );
  const target: ObjectRef = { kind: object.kind as WorkloadKind, namespace, name };
  const existing = draft.all('pods').filter((pod) => isControlledBy(pod, target));
  if (existing.length > 0) {
    applyToPods(draft, { target, replicas: workload.spec.replicas, change });
    return;
  }
  const made = workloadPods(workload, draft.all('nodes'));
  for (const pod of made) draft.put('pods', createdPod(draft.names, pod, draft.now));
  draft.effects.push(
    `${change.text}: ${refText(target)} created, with ${counted(made.length, 'pod')}`,
  );
}

type ToPods = {
  readonly target: ObjectRef;
  readonly replicas: unknown;
  readonly change: ManifestChange;
};

/** It exists already: a change of the number of its pods can be predicted, one of its template cannot. */
function applyToPods(draft: Draft, { target, replicas, change }: ToPods): void {
  draft.assumptions.add(
    `Pods of ${refText(target)} stay as they are: a change of its template is not predicted`,
  );
  const scales = target.kind === 'StatefulSet' || target.kind === 'ReplicationController';
  if (scales && typeof replicas === 'number') {
    scaleByPods(draft, { kind: 'scale', text: change.text, target, replicas });
  }
}

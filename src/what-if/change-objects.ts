// Deleting, scaling, setting fields, and making pods unready.
import { decodeStrict } from '../apiserver/request/decode-body.ts';
import type { AnyKind } from '../kinds/definition.ts';
import { withPodCondition } from '../kinds/pod/conditions.ts';
import { isMirrorPod } from '../kinds/pod/mirror.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import { formatTime } from '../schema/time.ts';
import { admitUpdate } from '../snapshot/admit-object.ts';
import { type SnapshotKind, snapshotKinds } from '../snapshot/snapshot.ts';
import {
  type Change,
  ChangeError,
  type NamedKind,
  namedKinds,
  noPodsOf,
  type ObjectRef,
  refText,
} from './change.ts';
import { deleteNode } from './change-nodes.ts';
import { type Draft, findObject, keyOfRef, listOf, requireRead } from './draft.ts';
import { isControlledBy, losePods } from './lose-pods.ts';
import { scaleByPods } from './scale-by-pods.ts';
import { setField } from './set-field.ts';
import { counted } from './words.ts';

type DeleteChange = Extract<Change, { kind: 'delete' }>;

type Deletion = (draft: Draft, target: ObjectRef, by: Change) => void;

const deletions: Readonly<Record<NamedKind, Deletion>> = {
  Node: (draft, { name }, by) => deleteNode(draft, name, by),
  Pod: deletePod,
  Namespace: deleteNamespace,
  ReplicaSet: deleteReplicaSet,
  StatefulSet: deleteWorkload,
  DaemonSet: deleteWorkload,
  ReplicationController: deleteWorkload,
  Job: deleteWorkload,
  Service: deletePlain,
  Deployment: deletePlain,
  EndpointSlice: deletePlain,
  Endpoints: deletePlain,
};

export function deleteObject(draft: Draft, change: DeleteChange): void {
  deletions[change.target.kind](draft, change.target, change);
}

function deletePlain(draft: Draft, target: ObjectRef, by: Change): void {
  dropObject(draft, target, by);
  draft.effects.push(`${by.text}: deleted, with what it owns`);
}

function dropObject(draft: Draft, target: ObjectRef, by: Change): KubeObject {
  const list = listOf(target);
  const found = findObject(draft, list, { target, by });
  draft.drop(list, keyOfRef(target), by);
  if (list === 'services') draft.reserver().release(found as Service);
  return found;
}

function deletePod(draft: Draft, target: ObjectRef, by: Change): void {
  const pod = livingPod(draft, target, by);
  if (isMirrorPod(pod)) {
    draft.effects.push(`${by.text}: a static pod, which its node starts again at once`);
    return;
  }
  losePods(draft, [pod], { how: 'deleted', by });
  const owner = controllerOf(pod);
  draft.effects.push(
    owner === undefined
      ? `${by.text}: deleted, and no controller makes it anew`
      : `${by.text}: deleted, and ${owner.kind} ${owner.name} makes it anew`,
  );
}

/** One that no earlier change has taken away. */
function livingPod(draft: Draft, target: ObjectRef, by: Change): Pod {
  const lost = draft.lost.get(keyOfRef(target));
  if (lost !== undefined) {
    throw new ChangeError(`${by.text}: the pod is ${lost.how} by an earlier change`);
  }
  return findObject(draft, 'pods', { target, by });
}

/** Its Deployment makes another one. */
function deleteReplicaSet(draft: Draft, target: ObjectRef, by: Change): void {
  const found = dropObject(draft, target, by);
  const owner = controllerOf(found);
  const above =
    owner?.kind === 'Deployment'
      ? draft.get('deployments', `${target.namespace}/${owner.name}`)
      : undefined;
  // Settled again, although nothing about it differs.
  if (above !== undefined) draft.put('deployments', { ...above });
  draft.effects.push(
    `${by.text}: deleted with its pods${above === undefined ? '' : `, and Deployment ${owner?.name} makes them anew`}`,
  );
}

function deleteWorkload(draft: Draft, target: ObjectRef, by: Change): void {
  requireRead(draft, 'pods', { text: by.text, namespace: target.namespace });
  const pods = draft.all('pods').filter((pod) => isControlledBy(pod, target));
  if (pods.length === 0) throw noPodsOf(target, by);
  losePods(draft, pods, { how: 'deleted', by, forGood: true });
  draft.effects.push(`${by.text}: deleted with its ${counted(pods.length, 'pod')}`);
}

/** All that a snapshot has in it. */
function deleteNamespace(draft: Draft, target: ObjectRef, by: Change): void {
  findObject(draft, 'namespaces', { target, by });
  draft.drop('namespaces', target.name, by);
  const kinds = (Object.keys(snapshotKinds) as SnapshotKind[]).filter(
    (kind) => (snapshotKinds[kind] as AnyKind).namespaced,
  );
  let count = 0;
  for (const kind of kinds) {
    const inside = draft
      .all(kind)
      .filter(({ metadata }: KubeObject) => metadata.namespace === target.name);
    for (const one of inside) draft.drop(kind, objectKey(one.metadata), by);
    if (kind === 'services') for (const one of inside) draft.reserver().release(one as Service);
    if (kind === 'pods' || kind === 'services' || kind === 'deployments') count += inside.length;
  }
  draft.effects.push(`${by.text}: deleted with ${counted(count, 'Service, workload or pod')}`);
}

type ScaleChange = Extract<Change, { kind: 'scale' }>;

export function scaleWorkload(draft: Draft, change: ScaleChange): void {
  const { target, replicas } = change;
  draft.claimField(`${refText(target)} spec.replicas`, `${replicas}`, change);
  if (namedKinds[target.kind].list === undefined) {
    scaleByPods(draft, change);
    return;
  }
  const list = listOf(target);
  const before = findObject(draft, list, { target, by: change });
  const after = updated(draft, {
    ...{ list, before, path: 'spec.replicas' },
    value: `${replicas}`,
  });
  const { spec } = before as { readonly spec: { readonly replicas?: number } };
  draft.effects.push(`${change.text}: from ${counted(spec.replicas ?? 1, 'replica')}`);
  if (replicas > 0 && replicas < (spec.replicas ?? 1)) draft.assumptions.add(victimsNote);
  const owner = controllerOf(before);
  if (owner !== undefined) {
    draft.assumptions.add(
      `${refText(target)} belongs to ${owner.kind} ${owner.name}, which decides how many replicas it has`,
    );
  }
  draft.put(list, after);
}

/** The controller compares ages, on a scale that moves with the time. */
const victimsNote = 'Which of several equal pods go at a smaller scale depends on the moment';

type SetChange = Extract<Change, { kind: 'set' }>;

export function setObjectField(draft: Draft, change: SetChange): void {
  const { target, path, value } = change;
  draft.claimField(`${refText(target)} ${path}`, value, change);
  const list = listOf(target);
  const before = findObject(draft, list, { target, by: change });
  const after = updated(draft, { list, before, path, value });
  draft.put(list, after);
  draft.effects.push(
    JSON.stringify(after) === JSON.stringify(before)
      ? `${change.text}: it has this value already`
      : `${change.text}: set`,
  );
}

type FieldUpdate = {
  readonly list: SnapshotKind;
  readonly before: KubeObject;
  readonly path: string;
  readonly value: string;
};

/** As the API server would store it, or its refusal. */
function updated(draft: Draft, { list, before, path, value }: FieldUpdate): KubeObject {
  const definition = snapshotKinds[list] as AnyKind;
  const raw = setField(before, definition.schema, { path, value });
  const sent = decodeStrict(definition, raw);
  const admission = { now: draft.now, reserver: draft.reserver() };
  return admitUpdate(definition, { before, sent }, admission);
}

type UnreadyChange = Extract<Change, { kind: 'unready' }>;

/** As the node agent reports it when the readiness probe fails. */
export function makeUnready(draft: Draft, change: UnreadyChange): void {
  const pod = livingPod(draft, change.target, change);
  const { status } = pod;
  const time = formatTime(draft.now);
  const because = { status: 'False', reason: 'ContainersNotReady' } as const;
  const conditions = ['Ready', 'ContainersReady'].reduce(
    (some, type) => withPodCondition(some, { type, ...because }, time),
    status.conditions ?? [],
  );
  const { containerStatuses } = status;
  draft.put('pods', {
    ...pod,
    status: {
      ...status,
      conditions,
      ...(containerStatuses === undefined
        ? {}
        : { containerStatuses: containerStatuses.map((one) => ({ ...one, ready: false })) }),
    },
  } as Pod);
  draft.effects.push(`${change.text}: the pod runs on, and is not ready`);
}

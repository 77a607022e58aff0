// POST of an Eviction: deletes the pod, where its disruption budget allows it.

import { withPodCondition } from '../../kinds/pod/conditions.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { needsNoBudget } from '../../kinds/pod-disruption-budget/protects.ts';
import { badRequest, isConflict } from '../../meta/api-error.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { alreadyAdmitted } from '../admission/admission.ts';
import type { WriteRequest } from '../context.ts';
import { negotiate } from '../encode/negotiate.ts';
import { answerStatus } from '../encode/status.ts';
import { type ApiResponse, header } from '../message.ts';
import { checkPreconditions, deleteObject } from '../objects/delete-object.ts';
import type { DeleteOptions } from '../objects/mark-deleted.ts';
import { updateObject } from '../objects/update-object.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import {
  admissionOf,
  admitRequest,
  type Call,
  liveObject,
  namespaceOf,
  writeRequest,
} from '../verbs/call.ts';
import { deleteOptions } from '../verbs/delete-options.ts';
import { budgetOf, mayEvictUnready, stillProcessed, takeDisruption } from './disruption-budget.ts';

const eviction = s.struct(
  'Eviction',
  {
    ...objectFields,
    deleteOptions: s.pointer(deleteOptions, 'How to delete the pod.'),
  },
  { numbers: [0, 0, 1, 2] },
);
type Eviction = KubeObject & {
  readonly deleteOptions?: DeleteOptions & { readonly dryRun?: readonly string[] };
};

export const evictionKind = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  schema: eviction,
  // Nothing else of that version is served, but older clients that drain nodes still send it.
  olderVersions: ['v1beta1'],
};

export async function evict(call: Call): Promise<ApiResponse> {
  const { request, info } = call;
  // Upstream chooses the form of the answer first, and a Status has no columns.
  negotiate(header(request, 'accept'), request.query, { allow: 'object', forms: 'metadata' });
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const body = (await readObject(call, evictionKind, options)) as Eviction;
  if ((body.metadata.name ?? '') !== info.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  await admitRequest(admissionOf(call, options), body);
  const { dryRun = [], ...requested } = body.deleteOptions ?? {};
  const isDryRun = options.dryRun || dryRun.length > 0;
  const write = {
    ...writeRequest(call, options),
    admission: alreadyAdmitted,
    dryRun: isDryRun,
  };
  await evictPod({ call, requested, write });
  return answerStatus(request, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

type EvictionTask = {
  readonly call: Call;
  readonly requested: DeleteOptions;
  readonly write: WriteRequest;
};

/** A pod may change between the decision and the delete; it is then decided again. */
const maxAttempts = 20;

async function evictPod(task: EvictionTask): Promise<void> {
  const { call, requested } = task;
  for (let attempt = 1; ; attempt += 1) {
    const pod = liveObject(call).object as Pod;
    const ground = await allowEviction(task, pod);
    const conflict = await conflictOf(() => deleteEvicted(task, ground.onlyIf));
    if (conflict === undefined) return;
    // Where it is not one of the client's own preconditions, the pod has changed meanwhile.
    const isOurs = ground.onlyIf !== undefined && !requested.preconditions?.resourceVersion;
    if (!isOurs || attempt >= maxAttempts) throw conflict;
    if (ground.budget !== undefined) throw stillProcessed(ground.budget);
  }
}

/** The conflict that the work fails with, if any; other errors are thrown. */
async function conflictOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isConflict(error)) return error;
    throw error;
  }
}

/** Why the pod may be evicted: some reasons hold only while the pod is as it was. */
type Ground = { readonly onlyIf?: Pod; readonly budget?: string };

/** Throws where its budget does not allow it. */
async function allowEviction({ call, write }: EvictionTask, pod: Pod): Promise<Ground> {
  if (needsNoBudget(pod)) {
    const mayStart = pod.status.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined;
    return mayStart ? { onlyIf: pod } : {};
  }
  const budget = budgetOf(call.context, pod);
  if (budget === undefined) return {};
  const { name = '' } = budget.metadata;
  if (mayEvictUnready(pod, budget)) return { onlyIf: pod, budget: name };
  await takeDisruption(call.context, { budget, pod, write });
  return {};
}

/** `unchanged`: the pod as the decision saw it. */
async function deleteEvicted(task: EvictionTask, unchanged: Pod | undefined): Promise<void> {
  const { call, requested, write } = task;
  const { context, info, resource } = call;
  const { preconditions = {}, ...rest } = requested;
  const { uid } = preconditions;
  const resourceVersion = preconditions.resourceVersion ?? unchanged?.metadata.resourceVersion;
  const conditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const bounded = { ...rest, preconditions: conditions };
  const marked = write.dryRun ? undefined : await markDisrupted(task, bounded);
  // The condition changed the resourceVersion; until then the preconditions held.
  const version = marked?.metadata.resourceVersion;
  const isBound = resourceVersion !== undefined && version !== undefined;
  await deleteObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    options: isBound
      ? { ...rest, preconditions: { ...conditions, resourceVersion: version } }
      : bounded,
    dryRun: write.dryRun,
    // The Eviction was admitted in place of the delete.
    admit() {},
    now: context.now(),
    user: call.user,
  });
}

/** A condition tells controllers that the pod was evicted and has not failed. */
async function markDisrupted(
  { call, write }: EvictionTask,
  options: DeleteOptions,
): Promise<KubeObject> {
  const { context, resource, info } = call;
  const { cached } = await updateObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    subresource: 'status',
    rules: { validateUpdate: () => [] },
    desired(live) {
      checkPreconditions({ resource, name: info.name, options }, live as Pod);
      const { status } = live as Pod;
      const conditions = withPodCondition(status.conditions, disrupted, write.now);
      return { ...(live as Pod), status: { ...status, conditions } };
    },
    needsVersion: false,
    checksUid: false,
    write,
    // The server changes it, for no field manager.
    recordManagers: (_live, object) => object,
  });
  return cached.object;
}

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

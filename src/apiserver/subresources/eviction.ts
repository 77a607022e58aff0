// POST of an Eviction: deletes the pod. There are no PodDisruptionBudgets to refuse it.

import { withPodCondition } from '../../kinds/pod/conditions.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest } from '../../meta/api-error.ts';
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
import { admissionOf, admitRequest, type Call, namespaceOf, writeRequest } from '../verbs/call.ts';
import { deleteOptions } from '../verbs/delete-options.ts';

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
  const { context, request, info, resource } = call;
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
  if (!isDryRun) {
    const write = { ...writeRequest(call, options), admission: alreadyAdmitted };
    await markDisrupted(call, requested, write);
  }
  const { preconditions, ...rest } = requested;
  const { uid } = preconditions ?? {};
  await deleteObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    // The condition changed the resourceVersion; until then the preconditions held.
    options: isDryRun
      ? requested
      : { ...rest, ...(uid === undefined ? {} : { preconditions: { uid } }) },
    dryRun: isDryRun,
    // The Eviction was admitted in place of the delete.
    admit() {},
    now: context.now(),
    user: call.user,
  });
  return answerStatus(request, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

/** A condition tells controllers that the pod was evicted and has not failed. */
async function markDisrupted(
  call: Call,
  options: DeleteOptions,
  write: WriteRequest,
): Promise<void> {
  const { context, resource, info } = call;
  await updateObject(context, {
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
}

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

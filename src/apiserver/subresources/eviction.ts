// POST of an Eviction: a delete of the pod that asks politely. There are no disruption budgets here to refuse it.

import { badRequest } from '../../meta/api-error.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { answerStatus } from '../encode/status.ts';
import type { ApiResponse } from '../message.ts';
import { type DeleteOptions, deleteObject } from '../objects/delete-object.ts';
import { readObject } from '../read-object.ts';
import { admitted, type Call, namespaceOf } from '../verbs/call.ts';
import { deleteOptions } from '../verbs/delete-options.ts';
import { parseWriteOptions } from '../write-options.ts';

export const eviction = s.struct(
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

export const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction', schema: eviction };

export async function evict(call: Call): Promise<ApiResponse> {
  const { context, request, info, resource } = call;
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const body = (await readObject(call, evictionKind, options)) as Eviction;
  if (body.metadata.name !== undefined && body.metadata.name !== info.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  admitted(call, undefined, body);
  const { dryRun = [], ...wish } = body.deleteOptions ?? {};
  await deleteObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    options: wish,
    dryRun: options.dryRun || dryRun.length > 0,
    now: context.now(),
  });
  return answerStatus(request, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

// DELETE of one object.
import type { AnyKind } from '../../kinds/definition.ts';
import { answerStatus, type SentStatus } from '../encode/status.ts';
import type { ApiResponse } from '../message.ts';
import { type Deleted, deleteObject } from '../objects/delete-object.ts';
import { answerObject, assertAcceptable } from './answer-object.ts';
import { admitDelete, type Call, namespaceOf } from './call.ts';
import { parseDeleteOptions, warnOfDefaultPolicy } from './delete-options.ts';

export async function remove(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const { context, request, resource, info } = call;
  const { definition } = resource;
  const { options, dryRun } = await parseDeleteOptions(request);
  warnOfDefaultPolicy(call, options);
  const namespace = namespaceOf(call);
  const deleted = await deleteObject(context, {
    resource,
    namespace,
    name: info.name,
    options,
    dryRun,
    admit: () => admitDelete(call, { name: info.name, namespace, dryRun }),
    now: context.now(),
    user: call.user,
  });
  // As upstream for a client that uses the older form of propagationPolicy.
  const status = !deleted.removed && options.orphanDependents === false ? 202 : 200;
  if (answersObject(definition, deleted)) return answerObject(call, status, deleted.cached);
  return answerStatus(request, status, success(definition, deleted));
}

/** Some kinds answer with the object, and all do that is only marked. */
const answersObject = (definition: AnyKind, { removed }: Deleted): boolean =>
  (definition.deleteAnswersObject ?? false) || !removed;

function success({ group, plural }: AnyKind, { cached }: Deleted): SentStatus {
  const { name = '', uid = '' } = cached.object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: plural, uid },
  };
}

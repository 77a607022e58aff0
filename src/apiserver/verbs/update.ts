// PUT of a whole object, or of one of its subresources.

import type { KubeObject } from '../../meta/object.ts';
import type { ApiResponse } from '../message.ts';
import { updateObject } from '../objects/update-object.ts';
import { withoutRepeatedOwners } from '../request/owner-references.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { answerObject, assertAcceptable } from './answer-object.ts';
import { type Call, createOnUpdate, namespaceOf, rulesOf, writeRequest } from './call.ts';
import { checkIdentity } from './check-identity.ts';

export async function update(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const { context, request, resource, info } = call;
  const { definition } = resource;
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  const decoded = await readObject(call, definition, options);
  checkIdentity(call, decoded);
  const sent = withoutRepeatedOwners(decoded, 'body', call.warn);
  const wanted: KubeObject = definition.defaults?.(sent) ?? sent;
  const namespace = namespaceOf(call);
  const { cached, created } = await updateObject(context, {
    resource,
    namespace,
    name: info.name,
    subresource: info.subresource,
    rules: rulesOf(call),
    desired: () => wanted,
    ...(definition.createsOnUpdate && info.subresource === ''
      ? { create: createOnUpdate(call) }
      : {}),
    needsVersion: definition.needsResourceVersion ?? false,
    checksUid: true,
    write: writeRequest(call, options),
  });
  return answerObject(call, created ? 201 : 200, cached);
}

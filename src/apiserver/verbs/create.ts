// POST to a collection.

import type { ApiResponse } from '../message.ts';
import { createObject } from '../objects/create-object.ts';
import { withoutRepeatedOwners } from '../request/owner-references.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { answerObject, assertAcceptable } from './answer-object.ts';
import { type Call, namespaceOf, writeRequest } from './call.ts';

export async function create(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const { context, request, resource } = call;
  const { definition } = resource;
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const decoded = withoutRepeatedOwners(
    await readObject(call, definition, options),
    'body',
    call.warn,
  );
  const namespace = namespaceOf(call);
  const object = definition.defaults?.(decoded) ?? decoded;
  const cached = await createObject(context, {
    resource,
    namespace,
    object,
    write: writeRequest(call, options),
  });
  return answerObject(call, 201, cached);
}

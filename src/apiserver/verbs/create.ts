// POST to a collection.
import { admitCreate } from '../admission.ts';
import { decodeBody } from '../decode-body.ts';
import type { ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { createObject } from '../objects/create-object.ts';
import { parseWriteOptions } from '../write-options.ts';
import { type Call, namespaceOf, writeRequest } from './call.ts';
import { answerObject, assertAcceptable } from './get.ts';

export async function create(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const { context, request, resource, warn } = call;
  const { definition } = resource;
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const decoded = decodeBody({
    body: await request.body(),
    contentType: header(request, 'content-type') ?? '',
    kind: definition,
    known: context.resources.all.map((r) => r.definition),
    fieldValidation: options.fieldValidation,
    warn,
  });
  const object = definition.defaults?.(decoded) ?? decoded;
  const namespace = namespaceOf(call);
  const { name = object.metadata.generateName ?? '' } = object.metadata;
  admitCreate(context.resources.reader, { definition, namespace, name });
  call.context.checkAccessGrant(call.user, { definition, after: object, namespace });
  const cached = await createObject(context, {
    resource,
    namespace,
    object,
    write: writeRequest(call, options),
  });
  return answerObject(call, 201, cached);
}

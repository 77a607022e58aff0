// The size of a workload, read and written as an object of its own.

import { type Scalable, scaleOf, validateScale, withReplicas } from '../../kinds/scale/scale.ts';
import { type Scale, scaleSchema } from '../../kinds/scale/types.ts';
import { badRequest, invalid } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { typed } from '../decode-body.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { type ApiResponse, header } from '../message.ts';
import { updateObject } from '../objects/update-object.ts';
import { readObject } from '../read-object.ts';
import type { Cached } from '../resource-cache.ts';
import { type Call, namespaceOf, writeRequest } from '../verbs/call.ts';
import { liveObject } from '../verbs/get.ts';
import { parsePatch, patched, patchTypeOf } from '../verbs/patch.ts';
import { parseWriteOptions, type WriteOptions } from '../write-options.ts';

export const scaleKind = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: scaleSchema,
};

export function getScale(call: Call): ApiResponse {
  return answerScale(call, liveObject(call));
}

export async function updateScale(call: Call): Promise<ApiResponse> {
  const { request, info } = call;
  const options = parseWriteOptions(request.query, 'UpdateOptions');
  const sent = (await readObject(call, scaleKind, options)) as Scale;
  if (sent.metadata.name !== undefined && sent.metadata.name !== info.name) {
    throw badRequest(
      `the name of the object (${sent.metadata.name}) does not match the name on the URL (${info.name})`,
    );
  }
  return resize(call, options, () => sent);
}

export async function patchScale(call: Call): Promise<ApiResponse> {
  const type = patchTypeOf(call);
  const options = parseWriteOptions(call.request.query, 'PatchOptions', type === 'apply');
  if (type === 'apply')
    throw badRequest('apply is not supported for the scale subresource; use a merge patch');
  const parsed = parsePatch(type, Buffer.from(await call.request.body()).toString('utf8'));
  return resize(call, options, (live) => {
    const { object, error } = decode(scaleSchema, patched(parsed, scaleSchema, live));
    if (error !== undefined) throw badRequest(error);
    return typed(object as KubeObject, scaleKind) as Scale;
  });
}

async function resize(
  call: Call,
  options: WriteOptions,
  wanted: (live: Scale) => Scale,
): Promise<ApiResponse> {
  const { context, resource, info } = call;
  const { definition } = resource;
  const { cached } = await updateObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    subresource: 'scale',
    rules: definition.update,
    desired(live) {
      const workload = live as Scalable;
      const scale = wanted(scaleOf(workload));
      const errors = validateScale(scale);
      if (errors.length > 0)
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, info.name, errors);
      return sized(workload, scale);
    },
    creates: false,
    needsVersion: false,
    checksUid: false,
    write: writeRequest(call, options),
  });
  return answerScale(call, cached);
}

/** The workload in its new size, at the version that the client says it saw. */
function sized(workload: Scalable, scale: Scale): KubeObject {
  const { resourceVersion: _seen, ...metadata } = workload.metadata;
  const { resourceVersion } = scale.metadata;
  const seen = resourceVersion === undefined ? {} : { resourceVersion };
  return withReplicas({ ...workload, metadata: { ...metadata, ...seen } }, scale);
}

function answerScale({ request, context }: Call, { object }: Cached): ApiResponse {
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'object' });
  const { contentType, body } = encodeObject(
    representation,
    scaleKind,
    scaleOf(object as Scalable),
    context.now(),
  );
  return { status: 200, headers: { 'content-type': contentType }, body };
}

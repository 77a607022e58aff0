// The size of a workload, read and written as an object of its own.

import { scaleColumns } from '../../kinds/scale/columns.ts';
import { type Scalable, scaleOf, validateScale, withReplicas } from '../../kinds/scale/scale.ts';
import { type Scale, scaleSchema } from '../../kinds/scale/types.ts';
import { badRequest, conflict, invalid } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { alreadyAdmitted } from '../admission/admission.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { type ApiResponse, header } from '../message.ts';
import { updateObject } from '../objects/update-object.ts';
import { typed } from '../request/decode-body.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts';
import { admissionOf, type Call, liveObject, namespaceOf, writeRequest } from '../verbs/call.ts';
import { checkIdentity } from '../verbs/check-identity.ts';
import { applyPatch, invalidPatch, parsePatch, patchTypeOf } from '../verbs/parse-patch.ts';

export const scaleKind = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: scaleSchema,
  columns: scaleColumns,
};

export function getScale(call: Call): ApiResponse {
  return answerScale(call, liveObject(call));
}

export async function updateScale(call: Call): Promise<ApiResponse> {
  const options = parseWriteOptions(call.request.query, 'UpdateOptions');
  const sent = (await readObject(call, scaleKind, options)) as Scale;
  checkIdentity(call, sent);
  return resize(call, options, () => sent);
}

export async function patchScale(call: Call): Promise<ApiResponse> {
  const type = patchTypeOf(call);
  const options = parseWriteOptions(call.request.query, 'PatchOptions', type === 'apply');
  if (type === 'apply')
    throw badRequest('apply is not supported for the scale subresource; use a merge patch');
  const parsed = parsePatch(type, Buffer.from(await call.request.body()).toString('utf8'));
  return resize(call, options, (live) => {
    const raw = applyPatch(parsed, scaleSchema, live);
    const { object, error } = decode(scaleSchema, raw);
    if (error !== undefined) throw invalidPatch(parsed, raw, error);
    const scale = typed(object as KubeObject, scaleKind) as Scale;
    checkIdentity(call, scale);
    return scale;
  });
}

async function resize(
  call: Call,
  options: WriteOptions,
  wanted: (live: Scale) => Scale,
): Promise<ApiResponse> {
  const { context, resource, info } = call;
  const { definition } = resource;
  const admission = admissionOf(call, options);
  const { cached } = await updateObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    subresource: 'scale',
    rules: definition.update,
    desired(live) {
      const workload = live as Scalable;
      const current = scaleOf(workload);
      const scale = admission.mutate(current, wanted(current)) as Scale;
      const errors = validateScale(scale);
      if (errors.length > 0)
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, info.name, errors);
      checkUid(call, workload, scale);
      return sized(workload, scale);
    },
    needsVersion: false,
    checksUid: false,
    // Plugins are shown the Scale, which is what the client wrote, and not the workload.
    write: {
      ...writeRequest(call, options),
      admission: {
        ...alreadyAdmitted,
        validate: (before, after) =>
          admission.validate(scaleOf(before as Scalable), scaleOf(after as Scalable)),
      },
    },
  });
  return answerScale(call, cached);
}

/** A client that names a workload by its uid means no other of that name. */
function checkUid({ resource, info }: Call, { metadata }: Scalable, scale: Scale): void {
  const { uid } = scale.metadata;
  if (uid === undefined || uid === metadata.uid) return;
  const { group, plural } = resource.definition;
  throw conflict(
    { group, resource: `${plural}/scale` },
    info.name,
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`,
  );
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
  const { contentType, ...encoded } = encodeObject(
    representation,
    scaleKind,
    scaleOf(object as Scalable),
    context.now(),
  );
  return { status: 200, headers: { 'content-type': contentType }, ...encoded };
}

// One object as it is now.
import { notFound } from '../../meta/api-error.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { assertShape } from '../encode/partial-metadata.ts';
import type { ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { parseVersion } from '../request/list-options.ts';
import { type Call, namespaceOf, targetOf } from './call.ts';
import { freshEnough } from './list.ts';

/** At once, unless the client asks for a version that may be yet to come. */
export function get(call: Call): ApiResponse | Promise<ApiResponse> {
  assertAcceptable(call);
  const version = call.request.query.get('resourceVersion') ?? '';
  if (version === '') return answerLive(call);
  const wanted = { resourceVersion: parseVersion(version, false) };
  return freshEnough(call, wanted).then(() => answerLive(call));
}

const answerLive = (call: Call): ApiResponse => answerObject(call, 200, liveObject(call));

/** Refuses an answer that the client would not take before anything is written. */
export function assertAcceptable({ request, resource }: Call): void {
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'object' });
  assertShape(representation, resource.definition, 'object');
}

export function liveObject(call: Call): Cached {
  const { info, resource } = call;
  const { codec, cache, definition, view } = resource;
  const cached = cache.get(codec.key(namespaceOf(call), info.name));
  if (cached === undefined) throw notFound(targetOf(definition), info.name);
  return view(cached);
}

export function answerObject(call: Call, status: number, cached: Cached): ApiResponse {
  const { context, request, resource } = call;
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'object' });
  const { contentType, body, convert } = encodeObject(
    representation,
    resource.definition,
    cached,
    context.now(),
  );
  return { status, headers: { 'content-type': contentType }, body, convert };
}

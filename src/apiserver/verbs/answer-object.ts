// The object of a request as the body of its answer, in the form that the client accepts.
import type { Cached } from '../cache/resource-cache.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { assertShape } from '../encode/partial-metadata.ts';
import { type ApiResponse, header } from '../message.ts';
import type { Call } from './call.ts';

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

/** Refuses an answer that the client would not take before anything is written. */
export function assertAcceptable({ request, resource }: Call): void {
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'object' });
  assertShape(representation, resource.definition, 'object');
}

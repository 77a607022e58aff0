// A request to one of the resources of parts, as its handlers get it.
import type { KubeObject } from '../../meta/object.ts';
import type { User } from '../access/user.ts';
import type { ApiContext } from '../context.ts';
import type { VirtualKind } from '../discovery/served-kind.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import type { Pace } from '../limits/pace.ts';
import { type ApiResponse, header, type VerbRequest } from '../message.ts';
import type { ResourceRequest } from '../request/request-info.ts';

export type PartCall = {
  readonly context: ApiContext;
  readonly request: VerbRequest;
  readonly info: ResourceRequest;
  readonly user: User;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
};

export type PartHandler = (call: PartCall) => Promise<ApiResponse> | ApiResponse;

/** A kind that is answered from what parts say; by its verbs, or by `subresource/verb`. */
export type PartKindServed = VirtualKind & {
  readonly handlers: Readonly<Record<string, PartHandler>>;
};

const maxTimeoutMs = 30_000;

/** How long the client waits for the parts, by `timeoutSeconds`. */
export function timeoutOf({ query }: VerbRequest, defaultMs: number): number {
  const seconds = Number(query.get('timeoutSeconds') ?? '');
  return seconds > 0 ? Math.min(seconds * 1000, maxTimeoutMs) : defaultMs;
}

export function answerWith(
  { context, request }: PartCall,
  kind: VirtualKind,
  status: number,
  object: KubeObject,
): ApiResponse {
  const representation = negotiate(header(request, 'accept'), request.query, {
    allow: 'object',
    forms: 'metadata',
  });
  const { contentType, ...encoded } = encodeObject(representation, kind, object, context.now());
  return { status, headers: { 'content-type': contentType }, ...encoded };
}

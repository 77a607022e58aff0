// POST of a kind that is answered and never stored.

import type { KubeObject } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import type { Authenticator } from '../access/authenticate.ts';
import type { Authorizer } from '../access/authorize.ts';
import type { User } from '../access/user.ts';
import type { ApiContext } from '../context.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { assertShape } from '../encode/partial-metadata.ts';
import type { Pace } from '../limits/pace.ts';
import { type ApiResponse, header, type VerbRequest } from '../message.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import type { ReviewKind } from './review-kind.ts';

export type ReviewParts = {
  readonly context: ApiContext;
  readonly authorizer: Authorizer;
  readonly authenticator: Authenticator;
};

export type ReviewRequest = {
  readonly request: VerbRequest;
  readonly user: User;
  readonly namespace: string;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
};

export async function answerReview(
  { context, authorizer, authenticator }: ReviewParts,
  kind: ReviewKind,
  { request, user, namespace, warn, pace }: ReviewRequest,
): Promise<ApiResponse> {
  const representation = negotiate(header(request, 'accept'), request.query, {
    allow: 'object',
    forms: 'metadata',
  });
  assertShape(representation, kind, 'object');
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const object = await readObject({ context, request, warn, pace }, kind, options);
  const now = formatTime(context.now());
  const review: KubeObject = kind.create(object, {
    user,
    authorizer,
    authenticator,
    namespace,
    now,
  });
  const { contentType, ...encoded } = encodeObject(representation, kind, review, context.now());
  return { status: 201, headers: { 'content-type': contentType }, ...encoded };
}

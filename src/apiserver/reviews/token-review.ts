// TokenReview: identifies the user of a token, for servers that delegate authentication.
import { badRequest } from '../../meta/api-error.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import type { AuthenticationResult } from '../access/authenticate.ts';
import { type ReviewKind, reviewMetadata } from './review-kind.ts';
import { userInfo, userInfoOf } from './user-info.ts';

const tokenReviewSpec = s.struct(
  'TokenReviewSpec',
  {
    token: s.string('The bearer token, as it would stand in a request.'),
    audiences: s.list(s.string(), 'For whom the token should be; empty means the API server.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2] },
);

const tokenReviewStatus = s.struct(
  'TokenReviewStatus',
  {
    authenticated: s.boolean('The token is good.'),
    user: s.described(userInfo, 'Whose it is.'),
    audiences: s.list(s.string(), 'Those asked for that the token is good for.', {
      listType: 'atomic',
    }),
    error: s.string('Why the token could not be checked.'),
  },
  { numbers: [1, 2, 4, 3] },
);

const schema = s.struct(
  'TokenReview',
  {
    ...objectFields,
    spec: s.required(s.described(tokenReviewSpec, 'The token to look at.')),
    status: s.described(tokenReviewStatus, 'What it is worth, filled in by the server.'),
  },
  { numbers: [0, 0, 1, 2, 3] },
);

type TokenReview = KubeObject & { readonly spec: s.Static<typeof tokenReviewSpec> };

export const tokenReview: ReviewKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
  schema,
  create(object, { authenticator }) {
    const { spec } = object as TokenReview;
    const { token = '', audiences = [] } = spec;
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const review = {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: reviewMetadata(object.metadata, ''),
      spec,
      status: statusOf(authenticator.authenticateToken(token, audiences)),
    };
    return review;
  },
};

function statusOf(proof: AuthenticationResult): s.Static<typeof tokenReviewStatus> {
  if ('error' in proof) return { user: {}, error: proof.error };
  const { user, audiences = [] } = proof;
  return {
    authenticated: true,
    user: userInfoOf(user),
    ...(audiences.length === 0 ? {} : { audiences }),
  };
}

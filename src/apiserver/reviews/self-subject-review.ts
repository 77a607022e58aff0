// SelfSubjectReview: the user of the request, for `kubectl auth whoami`.
import { objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import type { ReviewKind } from './review-kind.ts';
import { userInfo, userInfoOf } from './user-info.ts';

const schema = s.struct(
  'SelfSubjectReview',
  {
    ...objectFields,
    status: s.described(
      s.struct(
        'SelfSubjectReviewStatus',
        { userInfo: s.described(userInfo, 'The user who asked.') },
        { numbers: [1] },
      ),
      'The answer, filled in by the server.',
    ),
  },
  { numbers: [0, 0, 1, 2] },
);

export const selfSubjectReview: ReviewKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
  schema,
  create(_object, { user, now }) {
    const review = {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: now },
      status: { userInfo: userInfoOf(user) },
    };
    return review;
  },
};

import type { ReviewKind } from './review-kind.ts';
import { selfSubjectReview } from './self-subject-review.ts';
import { selfSubjectRulesReview } from './self-subject-rules-review.ts';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from './subject-access-review.ts';
import { tokenReview } from './token-review.ts';

/** All kinds that answer a question about access. */
export const reviewKinds: readonly ReviewKind[] = [
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  tokenReview,
];

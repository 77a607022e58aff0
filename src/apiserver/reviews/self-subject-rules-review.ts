// "What may I do?": all rules that hold for the asking user in one namespace, for `kubectl auth can-i --list`.

import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { badRequest } from '../../meta/api-error.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { missingText } from '../access/role-authorizer.ts';
import type { ReviewKind } from './review-kind.ts';

const atomic = { listType: 'atomic' } as const;
const verbs = s.required(
  s.always(s.list(s.string(), 'What may be done; * is everything.', atomic)),
);

const resourceRule = s.struct(
  'ResourceRule',
  {
    verbs,
    apiGroups: s.list(s.string(), 'Groups of the resources.', atomic),
    resources: s.list(s.string(), 'Resources, or resource/subresource.', atomic),
    resourceNames: s.list(s.string(), 'Only objects of these names; empty is all.', atomic),
  },
  { numbers: [1, 2, 3, 4] },
);

const nonResourceRule = s.struct(
  'NonResourceRule',
  {
    verbs,
    nonResourceURLs: s.list(s.string(), 'Paths; a last * is open.', atomic),
  },
  { numbers: [1, 2] },
);

const subjectRulesReviewStatus = s.struct(
  'SubjectRulesReviewStatus',
  {
    resourceRules: s.required(
      s.always(s.list(resourceRule, 'What may be done with resources.', atomic)),
    ),
    nonResourceRules: s.required(
      s.always(s.list(nonResourceRule, 'What may be done with paths.', atomic)),
    ),
    incomplete: s.required(s.always(s.boolean('There may be more than is listed.'))),
    evaluationError: s.string('Why the list may be incomplete.'),
  },
  { numbers: [1, 2, 3, 4] },
);

const schema = s.struct(
  'SelfSubjectRulesReview',
  {
    ...objectFields,
    spec: s.required(
      s.described(
        s.struct(
          'SelfSubjectRulesReviewSpec',
          {
            namespace: s.string('Namespace to look at; required.'),
          },
          { numbers: [1] },
        ),
        'Where to look.',
      ),
    ),
    status: s.described(subjectRulesReviewStatus, 'The rules, filled in by the server.'),
  },
  { numbers: [0, 0, 1, 2, 3] },
);

type RulesReview = KubeObject & { readonly spec: { readonly namespace?: string } };

export const selfSubjectRulesReview: ReviewKind = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  singular: 'selfsubjectrulesreview',
  namespaced: false,
  schema,
  create(object, { user, authorizer }) {
    const { namespace = '' } = (object as RulesReview).spec;
    if (namespace === '') throw badRequest('no namespace on request');
    const { rules: all, missing, incomplete } = authorizer.rulesFor(user, namespace);
    const rules = firstRules(all);
    const isCut = rules.length < all.length;
    const problems = [
      ...(incomplete === undefined ? [] : [incomplete]),
      ...(isCut ? [`only the first ${rules.length} of ${all.length} rules are shown`] : []),
      ...(missing.length === 0 ? [] : [missingText(missing)]),
    ];
    const review = {
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      // The answer does not repeat the question.
      spec: {},
      status: {
        resourceRules: rules
          .filter((rule) => rule.resources?.length)
          .map(({ nonResourceURLs: _urls, ...rule }) => rule),
        nonResourceRules: rules
          .filter((rule) => rule.nonResourceURLs?.length)
          .map((rule) => ({ verbs: rule.verbs, nonResourceURLs: rule.nonResourceURLs })),
        incomplete: incomplete !== undefined || isCut,
        ...(problems.length === 0 ? {} : { evaluationError: problems.join(', ') }),
      },
    };
    return review;
  },
};

/** Of the texts of all rules together: some roles as large as a body, where the roles of whole clusters take a hundredth. */
const maxRulesLength = 4 * 1024 * 1024;
/** What a rule and each of its texts take beside the text. */
const overhead = 20;

/** Bounds the response: a user may have any number of roles. */
function firstRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  let left = maxRulesLength;
  const end = rules.findIndex((rule) => {
    left -= lengthOf(rule);
    return left < 0;
  });
  return end < 0 ? rules : rules.slice(0, end);
}

function lengthOf(rule: PolicyRule): number {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  let length = overhead;
  for (const list of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) {
    for (const text of list ?? []) length += text.length + overhead;
  }
  return length;
}

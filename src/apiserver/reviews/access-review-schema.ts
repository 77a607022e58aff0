// The forms of the three access reviews.
import { labelSelectorRequirement } from '../../meta/labels.ts';
import { objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const fieldSelectorRequirement = s.struct(
  'FieldSelectorRequirement',
  {
    key: s.required(s.always(s.string('Field that the requirement is about.'))),
    operator: s.required(s.always(s.string('In, NotIn, Exists or DoesNotExist.'))),
    values: s.list(s.string(), 'Values of In and NotIn.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 3] },
);

const fieldSelectorAttributes = s.struct(
  'FieldSelectorAttributes',
  {
    rawSelector: s.string('The selector as it stands in a query.'),
    requirements: s.list(fieldSelectorRequirement, 'The selector taken apart.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2] },
);

const labelSelectorAttributes = s.struct(
  'LabelSelectorAttributes',
  {
    rawSelector: s.string('The selector as it stands in a query.'),
    requirements: s.list(labelSelectorRequirement, 'The selector taken apart.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2] },
);

const resourceAttributes = s.struct(
  'ResourceAttributes',
  {
    namespace: s.string(
      'Namespace of the action; empty for cluster-wide resources and for all namespaces.',
    ),
    verb: s.string('What would be done: get, list, create, ...; * is everything.'),
    group: s.string('API group of the resource; * is every group.'),
    version: s.string('API version of the resource; * is every version.'),
    resource: s.string('Plural name of the resource; * is every resource.'),
    subresource: s.string('Part of the resource, such as status.'),
    name: s.string('Name of the object; empty means all.'),
    fieldSelector: s.pointer(
      fieldSelectorAttributes,
      'Narrows a list to objects with certain fields.',
    ),
    labelSelector: s.pointer(
      labelSelectorAttributes,
      'Narrows a list to objects with certain labels.',
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
);
export type ResourceAttributes = s.Static<typeof resourceAttributes>;

const nonResourceAttributes = s.struct(
  'NonResourceAttributes',
  {
    path: s.string('Path of the request.'),
    verb: s.string('HTTP method in lower case.'),
  },
  { numbers: [1, 2] },
);
export type NonResourceAttributes = s.Static<typeof nonResourceAttributes>;

const questionFields = {
  resourceAttributes: s.pointer(
    resourceAttributes,
    'The action on a resource that is asked about.',
  ),
  nonResourceAttributes: s.pointer(nonResourceAttributes, 'The path that is asked about.'),
} as const;

const selfSubjectAccessReviewSpec = s.struct('SelfSubjectAccessReviewSpec', questionFields, {
  numbers: [1, 2],
});

const subjectAccessReviewSpec = s.struct(
  'SubjectAccessReviewSpec',
  {
    ...questionFields,
    user: s.string('Name of the user that is asked about.'),
    groups: s.list(s.string(), 'Groups of that user.', { listType: 'atomic' }),
    extra: s.map(s.list(s.string()), 'What else the authenticator said of the user.'),
    uid: s.string('Identity of the user.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type SubjectAccessReviewSpec = s.Static<typeof subjectAccessReviewSpec>;

const subjectAccessReviewStatus = s.struct(
  'SubjectAccessReviewStatus',
  {
    allowed: s.required(s.always(s.boolean('The action would be allowed.'))),
    denied: s.boolean('The action is refused whatever other authorizers say.'),
    reason: s.string('Why it is allowed or not.'),
    evaluationError: s.string('What went wrong on the way to the answer.'),
  },
  { numbers: [1, 4, 2, 3] },
);
export type SubjectAccessReviewStatus = s.Static<typeof subjectAccessReviewStatus>;

const status = s.described(subjectAccessReviewStatus, 'The answer, filled in by the server.');

export const selfSubjectAccessReviewSchema = s.struct(
  'SelfSubjectAccessReview',
  {
    ...objectFields,
    spec: s.required(
      s.described(selfSubjectAccessReviewSpec, 'What the asking user wants to know of himself.'),
    ),
    status,
  },
  { numbers: [0, 0, 1, 2, 3] },
);

export const subjectAccessReviewSchema = s.struct(
  'SubjectAccessReview',
  {
    ...objectFields,
    spec: s.required(s.described(subjectAccessReviewSpec, 'Who would do what.')),
    status,
  },
  { numbers: [0, 0, 1, 2, 3] },
);

export const localSubjectAccessReviewSchema = s.struct(
  'LocalSubjectAccessReview',
  {
    ...objectFields,
    spec: s.required(
      s.described(subjectAccessReviewSpec, 'Who would do what in the namespace of the review.'),
    ),
    status,
  },
  { numbers: [0, 0, 1, 2, 3] },
);

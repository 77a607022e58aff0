// Validates access reviews. Kubernetes: pkg/apis/authorization/validation.
import { type FieldError, forbidden, invalid, required, tooLong } from '../../meta/field-error.ts';
import { validateLabelName } from '../../meta/labels.ts';
import { labelValue } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from './access-review-schema.ts';

export type Question = Pick<
  SubjectAccessReviewSpec,
  'resourceAttributes' | 'nonResourceAttributes'
>;

export function validateSubjectReview(spec: SubjectAccessReviewSpec): readonly FieldError[] {
  const hasNoSubject = !spec.user && !spec.groups?.length;
  return [
    ...validateEither(spec),
    ...(hasNoSubject
      ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
      : []),
    ...validateSelectors(spec.resourceAttributes),
  ];
}

export function validateSelfReview(spec: Question): readonly FieldError[] {
  return [...validateEither(spec), ...validateSelectors(spec.resourceAttributes)];
}

export function validateNoMetadata(metadata: ObjectMeta): readonly FieldError[] {
  return Object.keys(metadata).length === 0 ? [] : [invalid('metadata', metadata, 'must be empty')];
}

/** A local review is about its own namespace only. */
export function validateLocal(metadata: ObjectMeta, spec: Question): readonly FieldError[] {
  const { namespace = '', ...rest } = metadata;
  const { resourceAttributes, nonResourceAttributes } = spec;
  const requested =
    resourceAttributes === undefined ? namespace : (resourceAttributes.namespace ?? '');
  return [
    ...(Object.keys(rest).length === 0
      ? []
      : [invalid('metadata', metadata, 'must be empty except for namespace')]),
    ...(requested === namespace
      ? []
      : [invalid('spec.resourceAttributes.namespace', requested, 'must match metadata.namespace')]),
    ...(nonResourceAttributes === undefined
      ? []
      : [
          invalid(
            'spec.nonResourceAttributes',
            shown(nonResourceAttributes),
            'disallowed on this kind of request',
          ),
        ]),
  ];
}

function validateEither({
  resourceAttributes,
  nonResourceAttributes,
}: Question): readonly FieldError[] {
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [invalid('spec.resourceAttributes', undefined, detail)];
  }
  if (resourceAttributes === undefined || nonResourceAttributes === undefined) return [];
  const detail = 'cannot be specified in combination with resourceAttributes';
  return [invalid('spec.nonResourceAttributes', shown(nonResourceAttributes), detail)];
}

/** Upstream shows the fields of its internal type. */
function shown({ path = '', verb = '' }: NonResourceAttributes): unknown {
  return { Path: path, Verb: verb };
}

function validateSelectors(attributes: ResourceAttributes | undefined): readonly FieldError[] {
  const field = 'spec.resourceAttributes';
  const { fieldSelector, labelSelector } = attributes ?? {};
  return [
    ...(fieldSelector === undefined
      ? []
      : validateSelector(fieldSelector, `${field}.fieldSelector`, requireKey)),
    ...(labelSelector === undefined
      ? []
      : validateSelector(labelSelector, `${field}.labelSelector`, requireLabel)),
  ];
}

type Requirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};
type Selector = { readonly rawSelector?: string; readonly requirements?: readonly Requirement[] };
type RequirementRule = (requirement: Requirement, field: string) => readonly FieldError[];

/** As long as one can be in a request: the head of a request has no more room. */
const maxRawSelector = 64 * 1024;

function validateSelector(
  { rawSelector = '', requirements = [] }: Selector,
  field: string,
  rule: RequirementRule,
): readonly FieldError[] {
  const both = rawSelector !== '' && requirements.length > 0;
  const neither = rawSelector === '' && requirements.length === 0;
  return [
    ...(rawSelector.length > maxRawSelector
      ? [tooLong(`${field}.rawSelector`, maxRawSelector)]
      : []),
    ...(both
      ? [
          invalid(
            `${field}.rawSelector`,
            rawSelector,
            'may not specified at the same time as requirements',
          ),
        ]
      : []),
    ...(neither
      ? [
          required(
            `${field}.requirements`,
            `when ${field} is specified, requirements or rawSelector is required`,
          ),
        ]
      : []),
    ...requirements.flatMap((requirement, i) => rule(requirement, `${field}.requirements[${i}]`)),
  ];
}

const requireKey: RequirementRule = (requirement, field) => [
  ...(requirement.key === '' ? [required(`${field}.key`, 'must be specified')] : []),
  ...validateValues(requirement, field),
];

const requireLabel: RequirementRule = (requirement, field) => [
  ...validateValues(requirement, field),
  ...validateLabelName(requirement.key, `${field}.key`),
  ...(requirement.values ?? []).flatMap((value, i) =>
    labelValue(value).map((detail) => invalid(`${field}.values[${i}]`, value, detail)),
  ),
];

/** Operators that we do not know are let through: a newer client may. */
function validateValues(
  { operator, values = [] }: Requirement,
  field: string,
): readonly FieldError[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    return [
      forbidden(
        `${field}.values`,
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ),
    ];
  }
  return [];
}

// SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview: whether a user may do something.
import { failure, invalid } from '../../meta/api-error.ts';
import type { FieldError } from '../../meta/field-error.ts';
import { parseFieldSelector } from '../../meta/fields.ts';
import { parseLabelSelector } from '../../meta/labels.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { AccessAttributes, User } from '../access/user.ts';
import {
  localSubjectAccessReviewSchema,
  type ResourceAttributes,
  type SubjectAccessReviewSpec,
  type SubjectAccessReviewStatus,
  selfSubjectAccessReviewSchema,
  subjectAccessReviewSchema,
} from './access-review-schema.ts';
import {
  type Question,
  validateLocal,
  validateNoMetadata,
  validateSelfReview,
  validateSubjectReview,
} from './access-review-validate.ts';
import { type ReviewContext, type ReviewKind, reviewMetadata } from './review-kind.ts';

const group = 'authorization.k8s.io';
const version = 'v1';
const apiVersion = `${group}/${version}`;

type AccessReview = KubeObject & { readonly spec: SubjectAccessReviewSpec };

export const selfSubjectAccessReview: ReviewKind = {
  group,
  version,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  namespaced: false,
  schema: selfSubjectAccessReviewSchema,
  create(object, context) {
    const { spec } = object as AccessReview;
    const metadata = reviewMetadata(object.metadata, '');
    refuse([...validateSelfReview(spec), ...validateNoMetadata(metadata)]);
    const status = answer(context.user, spec, context);
    return reviewed('SelfSubjectAccessReview', { metadata, spec, status });
  },
};

export const subjectAccessReview: ReviewKind = {
  group,
  version,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
  schema: subjectAccessReviewSchema,
  create(object, context) {
    const { spec } = object as AccessReview;
    const metadata = reviewMetadata(object.metadata, '');
    refuse([...validateSubjectReview(spec), ...validateNoMetadata(metadata)]);
    return reviewed('SubjectAccessReview', {
      metadata,
      spec,
      status: answer(subjectOf(spec), spec, context),
    });
  },
};

export const localSubjectAccessReview: ReviewKind = {
  group,
  version,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  singular: 'localsubjectaccessreview',
  namespaced: true,
  schema: localSubjectAccessReviewSchema,
  create(object, context) {
    const { spec } = object as AccessReview;
    const metadata = reviewMetadata(object.metadata, context.namespace);
    refuse([...validateSubjectReview(spec), ...validateLocal(metadata, spec)]);
    return reviewed('LocalSubjectAccessReview', {
      metadata,
      spec,
      status: answer(subjectOf(spec), spec, context),
    });
  },
};

function reviewed(
  kind: string,
  parts: Omit<AccessReview, 'kind' | 'apiVersion'> & { readonly status: unknown },
): KubeObject {
  return { kind, apiVersion, ...parts };
}

/** Upstream names no kind in these errors, neither in the text nor in the details. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const { message = '', details } = invalid({ group, kind: '' }, '', errors).status;
  const { kind: _kind, ...shown } = details ?? {};
  throw failure({ code: 422, reason: 'Invalid', message, details: shown });
}

function subjectOf({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): User {
  return {
    name: user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
}

function answer(
  user: User,
  question: Question,
  { authorizer }: ReviewContext,
): SubjectAccessReviewStatus {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(question));
  const ignored = ignoredSelectors(question.resourceAttributes);
  return {
    allowed,
    ...(reason === '' ? {} : { reason }),
    ...(ignored.length === 0 ? {} : { evaluationError: ignored.join('; ') }),
  };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Question): AccessAttributes {
  if (resourceAttributes === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { kind: 'path', verb, path };
  }
  const attributes = resourceAttributes;
  return {
    kind: 'resource',
    verb: attributes.verb ?? '',
    group: attributes.group ?? '',
    version: attributes.version || '*',
    resource: attributes.resource ?? '',
    subresource: attributes.subresource ?? '',
    namespace: attributes.namespace ?? '',
    name: attributes.name ?? '',
    ...fieldSelectorOf(attributes),
  };
}

/** In the form of a query; what cannot be read narrows nothing, so it is left out. */
function fieldSelectorOf({ fieldSelector }: ResourceAttributes): { fieldSelector?: string } {
  const { rawSelector = '', requirements = [] } = fieldSelector ?? {};
  const terms = requirements.flatMap(({ key, operator, values }) =>
    readsFieldRequirement({ operator, ...(values && { values }) })
      ? [`${key}${operator === 'In' ? '=' : '!='}${escapeFieldValue(values?.[0] ?? '')}`]
      : [],
  );
  const text = rawSelector === '' ? terms.join(',') : rawSelector;
  return text === '' ? {} : { fieldSelector: text };
}

const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** Roles know nothing of selectors; one that cannot even be read is mentioned. */
function ignoredSelectors(attributes: ResourceAttributes | undefined): readonly string[] {
  const { fieldSelector, labelSelector } = attributes ?? {};
  const field = 'spec.resourceAttributes';
  return [
    ...ignoredText(`${field}.fieldSelector`, fieldSelector, {
      readsRaw: (text) => 'selector' in parseFieldSelector(text),
      reads: readsFieldRequirement,
    }),
    ...ignoredText(`${field}.labelSelector`, labelSelector, {
      readsRaw: (text) => 'selector' in parseLabelSelector(text),
      reads: ({ operator }) => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator),
    }),
  ];
}

/** Field selectors have only "is" and "is not". */
const readsFieldRequirement = ({ operator, values }: Requirement): boolean =>
  (operator === 'In' || operator === 'NotIn') && values?.length === 1;

type Requirement = { readonly operator: string; readonly values?: readonly string[] };
type Selector = { readonly rawSelector?: string; readonly requirements?: readonly Requirement[] };
type Reading = {
  readonly readsRaw: (text: string) => boolean;
  readonly reads: (requirement: Requirement) => boolean;
};

function ignoredText(
  field: string,
  selector: Selector | undefined,
  reading: Reading,
): readonly string[] {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  if (rawSelector !== '') {
    return reading.readsRaw(rawSelector) ? [] : [`${field} ignored due to parse error`];
  }
  const read = requirements.filter(reading.reads);
  if (read.length === requirements.length) return [];
  return [`${field} ${read.length > 0 ? 'partially ' : ''}ignored due to parse error`];
}

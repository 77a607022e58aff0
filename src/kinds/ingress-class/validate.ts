import { type FieldError, forbidden, required, tooLong } from '../../meta/field-error.ts';
import { dns1123Label, domainPrefixedPath } from '../../meta/names.ts';
import { immutableField } from '../immutable-field.ts';
import { validateReference } from '../ingress/validate.ts';
import { invalidEach, validateChoice } from '../pod/field-rules.ts';
import type { IngressClass, IngressClassParameters } from './types.ts';

const longestController = 250;

export function validateIngressClass({ spec }: IngressClass): readonly FieldError[] {
  const { controller = '', parameters } = spec;
  const field = 'spec.controller';
  return [
    ...(controller.length > longestController ? [tooLong(field, longestController)] : []),
    ...(controller === ''
      ? [required(field)]
      : invalidEach(field, controller, domainPrefixedPath(controller))),
    ...(parameters === undefined ? [] : validateParameters(parameters, 'spec.parameters')),
  ];
}

export function validateIngressClassUpdate(
  before: IngressClass,
  after: IngressClass,
): readonly FieldError[] {
  return [
    ...validateIngressClass(after),
    ...immutableField({
      field: 'spec.controller',
      before: before.spec.controller,
      after: after.spec.controller,
      shown: after.spec.controller ?? '',
    }),
  ];
}

function validateParameters(
  parameters: IngressClassParameters,
  field: string,
): readonly FieldError[] {
  const { scope, namespace } = parameters;
  const at = `${field}.namespace`;
  const isNamespaced = scope === 'Namespace';
  return [
    ...validateReference(parameters, field),
    ...validateChoice(`${field}.scope`, scope, ['Cluster', 'Namespace']),
    ...(isNamespaced && !namespace
      ? [required(at, "`parameters.scope` is set to 'Namespace'")]
      : []),
    ...(isNamespaced && namespace ? invalidEach(at, namespace, dns1123Label(namespace)) : []),
    ...(scope === 'Cluster' && namespace !== undefined
      ? [forbidden(at, "`parameters.scope` is set to 'Cluster'")]
      : []),
  ];
}

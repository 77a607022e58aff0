import {
  type FieldError,
  forbidden,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import { dns1123Label, domainPrefixedPath } from '../../meta/names.ts';
import { immutableField } from '../immutable-field.ts';
import { validateReference } from '../ingress/validate.ts';
import { invalidEach } from '../pod/field-rules.ts';
import type { IngressClass, IngressClassParameters } from './types.ts';

const maxControllerLength = 250;
const scopes: readonly string[] = ['Cluster', 'Namespace'];

export function validateIngressClass({ spec }: IngressClass): readonly FieldError[] {
  const { controller = '', parameters } = spec;
  const field = 'spec.controller';
  return [
    ...(controller.length > maxControllerLength ? [tooLong(field, maxControllerLength)] : []),
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
    ...immutableField({
      field: 'spec.controller',
      before: before.spec.controller,
      after: after.spec.controller,
      shown: after.spec.controller ?? '',
    }),
    ...validateIngressClass(after),
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
    ...(scope === undefined ? [required(`${field}.scope`)] : []),
    ...(scope === undefined || scopes.includes(scope)
      ? []
      : [notSupported(`${field}.scope`, scope, scopes)]),
    ...(isNamespaced && namespace === undefined
      ? [required(at, "`parameters.scope` is set to 'Namespace'")]
      : []),
    ...(isNamespaced && namespace !== undefined
      ? invalidEach(at, namespace, dns1123Label(namespace))
      : []),
    ...(scope === 'Cluster' && namespace !== undefined
      ? [forbidden(at, "`parameters.scope` is set to 'Cluster'")]
      : []),
  ];
}

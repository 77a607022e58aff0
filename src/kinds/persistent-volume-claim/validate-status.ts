import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { qualifiedName } from '../../meta/names.ts';
import { compareQuantities, quantityValue } from '../../schema/quantity.ts';
import { invalidEach } from '../pod/field-rules.ts';
import type { ResourceList } from '../pod/resources.ts';
import type { PersistentVolumeClaim } from './types.ts';

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
].sort();

export function validateClaimStatus(
  _before: PersistentVolumeClaim,
  { spec, status }: PersistentVolumeClaim,
): readonly FieldError[] {
  const statuses = Object.entries(status.allocatedResourceStatuses ?? {});
  const statusField = 'status.allocatedResourceStatus';
  return [
    ...((spec.accessModes ?? []).length === 0 ? [required('Spec.accessModes')] : []),
    ...validateSizes(status.capacity, 'status.capacity'),
    ...statuses.flatMap(([name, value]) => [
      ...validateResourceKey(name, statusField),
      ...(resizeStatuses.includes(value)
        ? []
        : [notSupported(`${statusField}[${name}]`, value, resizeStatuses)]),
    ]),
    ...Object.keys(status.allocatedResources ?? {}).flatMap((name) =>
      validateResourceKey(name, 'status.allocatedResources'),
    ),
    ...validateSizes(status.allocatedResources, 'status.allocatedResources'),
  ];
}

/** No amount of a list is negative. The value in the message is a whole number, as upstream. */
export const validateSizes = (
  quantities: ResourceList | undefined,
  field: string,
): readonly FieldError[] =>
  Object.entries(quantities ?? {}).flatMap(([name, amount]) =>
    compareQuantities(amount, '0') < 0
      ? [
          invalid(
            `${field}[${name}]`,
            Math.ceil(quantityValue(amount)),
            'must be a valid resource quantity',
          ),
        ]
      : [],
  );

/** `storage`, or a name of another domain. */
function validateResourceKey(name: string, field: string): readonly FieldError[] {
  const at = `${field}[${name}]`;
  const wrong = invalidEach(at, name, qualifiedName(name));
  if (name === 'storage' || wrong.length > 0) return wrong;
  const [domain = ''] = name.split('/');
  const isCustom = name.includes('/') && !domain.endsWith('kubernetes.io');
  return isCustom ? [] : [invalid(at, name, 'must be a standard resource type or fully qualified')];
}

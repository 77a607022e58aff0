import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { dns1123Subdomain, pathSegmentName } from '../../meta/names.ts';
import { validateIP } from '../../meta/validate-ip.ts';
import { immutableField } from '../immutable-field.ts';
import type { IPAddress, ParentReference } from './types.ts';

const parentField = 'spec.parentRef';

/** The name is the address in canonical form; generateName is rejected. */
export function nameIsCanonicalIP(name: string): readonly string[] {
  return validateIP('metadata.name', name).map((error) => error.detail);
}

export function validateIPAddress({ spec }: IPAddress): readonly FieldError[] {
  const parent = spec.parentRef;
  if (parent === undefined) return [required(parentField)];
  const { group, resource, name, namespace } = parent;
  return [
    ...(group === undefined ? [] : malformed('group', group, dns1123Subdomain)),
    ...(resource === undefined
      ? [required(`${parentField}.resource`)]
      : malformed('resource', resource, pathSegmentName)),
    ...(name === undefined
      ? [required(`${parentField}.name`)]
      : malformed('name', name, pathSegmentName)),
    ...(namespace === undefined ? [] : malformed('namespace', namespace, pathSegmentName)),
  ];
}

export function validateIPAddressUpdate(
  before: IPAddress,
  after: IPAddress,
): readonly FieldError[] {
  const change = { field: parentField, before: before.spec.parentRef, after: after.spec.parentRef };
  return [
    ...validateIPAddress(after),
    ...immutableField({ ...change, shown: goSpelling(after.spec.parentRef) }),
  ];
}

function malformed(
  name: keyof ParentReference,
  value: string,
  rule: (value: string) => readonly string[],
): readonly FieldError[] {
  return rule(value).map((detail) => invalid(`${parentField}.${name}`, value, detail));
}

/** Messages show upstream's internal form of the reference. */
function goSpelling(parent: ParentReference | undefined): unknown {
  if (parent === undefined) return null;
  const { group = '', resource = '', namespace = '', name = '' } = parent;
  return { Group: group, Resource: resource, Namespace: namespace, Name: name };
}

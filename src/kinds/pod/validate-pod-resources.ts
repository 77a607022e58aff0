// What a pod as a whole requests and may use (upstream: validatePodResources).
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import { aggregateResources } from './aggregate-resources.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ResourceRequirements } from './resources.ts';
import { type PodClaims, validatePodLevelClaims } from './validate-claims.ts';
import { isHugePages, validatePodLevelResources } from './validate-resources.ts';

export function validatePodResources(
  spec: PodSpec,
  claims: PodClaims,
  field: string,
): readonly FieldError[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  if (spec.os?.name === 'windows') return [forbidden(field, 'may not be set for a windows pod')];
  return [
    ...validatePodLevelClaims(resources, claims, `${field}.claims`),
    ...validatePodLevelResources(resources, field),
    ...validateRequests(spec, resources, `${field}.requests`),
    ...validateHugePages(spec, resources, `${field}.limits`),
    ...validateLimits(spec, resources, field),
  ];
}

function validateRequests(
  spec: PodSpec,
  { requests = {} }: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  const detail = 'must be greater than or equal to aggregate container requests of';
  return sorted(aggregateResources(spec, 'requests')).flatMap(([name, quantity]) => {
    const own = requests[name];
    return own === undefined || compareQuantities(quantity, own) <= 0
      ? []
      : [invalid(`${field}[${name}]`, own, `${detail} ${quantity}`)];
  });
}

function validateHugePages(
  spec: PodSpec,
  { limits = {} }: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  const detail = 'must be greater than or equal to aggregate container limits of';
  return sorted(aggregateResources(spec, 'limits')).flatMap(([name, quantity]) => {
    const own = limits[name];
    return !isHugePages(name) || own === undefined || compareQuantities(quantity, own) <= 0
      ? []
      : [invalid(`${field}[${name}]`, own, `${detail} ${quantity}`)];
  });
}

/** Upstream builds the path of a container from that of the resources of the pod. */
function validateLimits(
  { containers }: PodSpec,
  { limits = {} }: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  return (containers ?? []).flatMap(({ resources }, index) =>
    sorted(resources.limits ?? {}).flatMap(([name, quantity]) => {
      const own = limits[name];
      if (own === undefined || compareQuantities(quantity, own) <= 0) return [];
      const detail = `must be less than or equal to pod limits of ${own}`;
      return [invalid(`${field}.containers[${index}][${name}].limits`, quantity, detail)];
    }),
  );
}

function sorted(list: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1));
}

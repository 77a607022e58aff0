import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { compareQuantities, quantityValue } from '../../schema/quantity.ts';
import type { ResourceList } from '../pod/resources.ts';
import { isHugePages, isNative, validateStandardResourceName } from '../pod/validate-resources.ts';
import type { ResourceQuota, ResourceQuotaSpec, ScopeRequirement } from './types.ts';

const podComputeResources: ReadonlySet<string> = new Set([
  ...['cpu', 'memory', 'ephemeral-storage'],
  ...['requests', 'limits'].flatMap((kind) =>
    ['cpu', 'memory', 'ephemeral-storage'].map((name) => `${kind}.${name}`),
  ),
]);
const objectCounts: ReadonlySet<string> = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);

const isQuotaResource = (name: string): boolean =>
  podComputeResources.has(name) ||
  objectCounts.has(name) ||
  name === 'requests.storage' ||
  isHugePages(name) ||
  name.startsWith('requests.hugepages-');

export function validateQuota({ spec }: ResourceQuota): readonly FieldError[] {
  return [
    ...validateList(spec.hard, 'spec.hard'),
    ...validateScopes(spec, 'spec.scopes'),
    ...validateScopeSelector(spec, 'spec.scopeSelector.matchExpressions'),
  ];
}

export function validateQuotaUpdate(
  before: ResourceQuota,
  after: ResourceQuota,
): readonly FieldError[] {
  const scopesOf = ({ spec }: ResourceQuota): readonly string[] =>
    [...new Set(spec.scopes ?? [])].sort();
  return [
    ...validateQuota(after),
    ...(deepEqual(scopesOf(before), scopesOf(after))
      ? []
      : [invalid('spec.scopes', after.spec.scopes ?? null, 'field is immutable')]),
  ];
}

export const validateQuotaStatus = (
  _before: ResourceQuota,
  { status }: ResourceQuota,
): readonly FieldError[] => [
  ...validateList(status.hard, 'status.hard'),
  ...validateList(status.used, 'status.used'),
];

function validateList(list: ResourceList = {}, field: string): readonly FieldError[] {
  return Object.keys(list)
    .sort()
    .flatMap((name) => validateEntry(name, list[name] ?? '0', `${field}[${name}]`));
}

function validateEntry(name: string, quantity: string, field: string): readonly FieldError[] {
  const isExtended = !isNative(name) && !name.startsWith('requests.');
  const isWhole = !objectCounts.has(name) && !isExtended;
  return [
    ...validateStandardResourceName(name, field),
    ...(name.includes('/') || isQuotaResource(name)
      ? []
      : [invalid(field, name, 'must be a standard resource for quota')]),
    ...(compareQuantities(quantity, '0') < 0
      ? [invalid(field, quantity, 'must be greater than or equal to 0')]
      : []),
    ...(isWhole || Number.isInteger(quantityValue(quantity))
      ? []
      : [invalid(field, quantity, 'must be an integer')]),
  ];
}

const ofPods = (name: string): boolean => name === 'pods' || podComputeResources.has(name);
const ofClaims = (name: string): boolean =>
  name === 'persistentvolumeclaims' || name === 'requests.storage';

/** Which standard resources a quota of the scope may limit. */
const resourcesOfScope: Readonly<Record<string, (name: string) => boolean>> = {
  Terminating: ofPods,
  NotTerminating: ofPods,
  NotBestEffort: ofPods,
  PriorityClass: ofPods,
  CrossNamespacePodAffinity: ofPods,
  BestEffort: (name) => name === 'pods',
  VolumeAttributesClass: ofClaims,
};

const conflictingScopes = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function validateScopes(
  { scopes = [], hard = {} }: ResourceQuotaSpec,
  field: string,
): readonly FieldError[] {
  const known = new Set(scopes);
  return [
    ...scopes.flatMap((scope) => [
      ...(Object.hasOwn(resourcesOfScope, scope)
        ? []
        : [invalid(field, scopes, 'unsupported scope')]),
      ...misplaced(scope, hard).map(() =>
        invalid(field, scopes, 'unsupported scope applied to resource'),
      ),
    ]),
    ...conflictingScopes
      .filter(([a, b]) => known.has(a) && known.has(b))
      .map(() => invalid(field, scopes, 'conflicting scopes')),
  ];
}

/** Standard resources of the quota that the scope does not know. */
function misplaced(scope: string, hard: ResourceList): readonly string[] {
  const fits = Object.hasOwn(resourcesOfScope, scope) ? resourcesOfScope[scope] : undefined;
  if (fits === undefined) return [];
  return Object.keys(hard).filter((name) => isQuotaResource(name) && !fits(name));
}

const existsOnly =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const valuedScopes: readonly string[] = ['PriorityClass', 'VolumeAttributesClass'];

function validateScopeSelector(
  { scopeSelector, hard = {}, scopes }: ResourceQuotaSpec,
  field: string,
): readonly FieldError[] {
  const requirements = scopeSelector?.matchExpressions ?? [];
  const known = new Set(requirements.map(({ scopeName }) => scopeName));
  return [
    ...requirements.flatMap((requirement) => [
      ...(Object.hasOwn(resourcesOfScope, requirement.scopeName)
        ? []
        : [invalid(`${field}.scopeName`, requirement.scopeName, 'unsupported scope')]),
      ...misplaced(requirement.scopeName, hard).map(() =>
        invalid(field, scopeSelector, 'unsupported scope applied to resource'),
      ),
      ...validateRequirement(requirement, field),
    ]),
    ...conflictingScopes
      .filter(([a, b]) => known.has(a) && known.has(b))
      .map(() => invalid(field, scopes ?? null, 'conflicting scopes')),
  ];
}

function validateRequirement(
  { scopeName, operator, values = [] }: ScopeRequirement,
  field: string,
): readonly FieldError[] {
  const isFlag = Object.hasOwn(resourcesOfScope, scopeName) && !valuedScopes.includes(scopeName);
  const wrong =
    isFlag && operator !== 'Exists' ? [invalid(`${field}.operator`, operator, existsOnly)] : [];
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? wrong
        : [
            ...wrong,
            required(
              `${field}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? wrong
        : [
            ...wrong,
            invalid(
              `${field}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          ];
    default:
      return [...wrong, invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

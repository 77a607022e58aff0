// Amounts that containers request and may use.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
} from '../../meta/field-error.ts';
import { qualifiedName } from '../../meta/names.ts';
import { compareQuantities, quantityValue } from '../../schema/quantity.ts';
import { invalidEach, validateChoice } from './field-rules.ts';
import {
  type ContainerResizePolicy,
  type ResourceList,
  type ResourceRequirements,
  resizableResources,
} from './resources.ts';

const standardResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Standard, but nothing that a container can have. */
const otherStandardResources = new Set([
  ...['requests', 'limits'].flatMap((kind) =>
    ['cpu', 'memory', 'ephemeral-storage'].map((name) => `${kind}.${name}`),
  ),
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'storage', 'requests.storage'],
  ...['services.nodeports', 'services.loadbalancers'],
]);
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Resources of the kubernetes.io domain and those without one belong to Kubernetes. */
export function isNative(name: string): boolean {
  return !name.includes('/') || (name.split('/')[0] ?? '').endsWith('kubernetes.io');
}

const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith('requests.');

/** A quota must be able to name it, too. */
const isExtendedName = (name: string): boolean =>
  isExtended(name) && qualifiedName(`requests.${name}`).length === 0;

export function validateResources(
  resources: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  const { limits = {}, requests = {} } = resources;
  const names = Object.keys({ ...limits, ...requests });
  const lonelyHugePages =
    names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  return [
    ...validateContainerResources(limits, `${field}.limits`),
    ...validateContainerResources(requests, `${field}.requests`),
    ...sortedKeys(requests).flatMap((name) => compareWithLimit(name, requests, limits, field)),
    ...(lonelyHugePages ? [forbidden(field, 'HugePages require cpu or memory')] : []),
  ];
}

/** `podPolicy` is the restart policy of the pod: what never starts again cannot be restarted for new amounts either. */
export function validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podPolicy: string | undefined,
  field: string,
): readonly FieldError[] {
  const names = new Set<string>();
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    const errors = names.has(resourceName) ? [duplicate(`${field}[${index}]`, resourceName)] : [];
    names.add(resourceName);
    return [
      ...errors,
      ...validateChoice(field, resourceName, resizableResources),
      ...validateChoice(field, restartPolicy, ['NotRequired', 'RestartContainer']),
      ...(podPolicy === 'Never' && restartPolicy !== 'NotRequired'
        ? [invalid(field, restartPolicy, neverRestarted)]
        : []),
    ];
  });
}

const neverRestarted = "must be 'NotRequired' when `restartPolicy` is 'Never'";

/** The amount itself, of any object that has amounts. */
export function validateQuantity(
  name: string,
  quantity: string,
  field: string,
): readonly FieldError[] {
  if (quantity.startsWith('-') && compareQuantities(quantity, '0') < 0) {
    return [invalid(field, quantity, 'must be greater than or equal to 0')];
  }
  const isWhole =
    (name !== 'pods' && !isExtended(name)) || Number.isInteger(quantityValue(quantity));
  return isWhole ? [] : [invalid(field, quantity, 'must be an integer')];
}

function validateContainerResources(
  quantities: ResourceList,
  field: string,
): readonly FieldError[] {
  return sortedKeys(quantities).flatMap((name) => {
    const at = `${field}[${name}]`;
    return [
      ...validateResourceName(name, at),
      ...validateQuantity(name, quantities[name] ?? '0', at),
    ];
  });
}

function validateResourceName(name: string, field: string): readonly FieldError[] {
  const wrong = invalidEach(field, name, qualifiedName(name));
  if (name.includes('/')) {
    const isFit = isNative(name) || isExtendedName(name);
    const detail = "doesn't follow extended resource name standard";
    return isFit ? wrong : [...wrong, invalid(field, name, detail)];
  }
  if (standardResources.has(name) || isHugePages(name)) return wrong;
  const isStandard = wrong.length > 0 || otherStandardResources.has(name);
  return [
    ...wrong,
    ...(isStandard
      ? []
      : [invalid(field, name, 'must be a standard resource type or fully qualified')]),
    invalid(field, name, 'must be a standard resource for containers'),
  ];
}

function compareWithLimit(
  name: string,
  requests: ResourceList,
  limits: ResourceList,
  field: string,
): readonly FieldError[] {
  const request = requests[name] ?? '0';
  const limit = limits[name];
  const exact = isExtended(name) || isHugePages(name);
  if (limit === undefined) {
    return exact
      ? [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')]
      : [];
  }
  const order = compareQuantities(request, limit);
  if (exact && order !== 0) {
    return [invalid(`${field}.requests`, request, `must be equal to ${name} limit of ${limit}`)];
  }
  return !exact && order > 0
    ? [
        invalid(
          `${field}.requests`,
          request,
          `must be less than or equal to ${name} limit of ${limit}`,
        ),
      ]
    : [];
}

const sortedKeys = (quantities: ResourceList): readonly string[] => Object.keys(quantities).sort();

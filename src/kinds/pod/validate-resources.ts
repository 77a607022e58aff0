// Resource requirements.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
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
/** Standard resources that containers cannot request. */
const otherStandardResources = new Set([
  ...['requests', 'limits'].flatMap((kind) =>
    ['cpu', 'memory', 'ephemeral-storage'].map((name) => `${kind}.${name}`),
  ),
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'storage', 'requests.storage'],
  ...['services.nodeports', 'services.loadbalancers'],
]);
const hugePagesPrefix = 'hugepages-';
export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix);

/** Resources without a domain or in kubernetes.io are Kubernetes' own. */
export function isNative(name: string): boolean {
  return !name.includes('/') || (name.split('/')[0] ?? '').endsWith('kubernetes.io');
}

const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith('requests.');

/** Must also be a valid name for a quota. */
const isExtendedName = (name: string): boolean =>
  isExtended(name) && qualifiedName(`requests.${name}`).length === 0;

type NameRule = (name: string, field: string) => readonly FieldError[];

export function validateResources(
  resources: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  return validateRequirements(resources, field, validateContainerResourceName);
}

/** Of a pod as a whole, which has fewer kinds of resources. */
export function validatePodLevelResources(
  resources: ResourceRequirements,
  field: string,
): readonly FieldError[] {
  return validateRequirements(resources, field, validatePodResourceName);
}

function validateRequirements(
  resources: ResourceRequirements,
  field: string,
  nameRule: NameRule,
): readonly FieldError[] {
  const { limits = {}, requests = {} } = resources;
  const names = Object.keys({ ...limits, ...requests });
  const lonelyHugePages =
    names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  return [
    ...validateQuantities(limits, `${field}.limits`, nameRule),
    ...validateQuantities(requests, `${field}.requests`, nameRule),
    ...sortedKeys(requests).flatMap((name) => compareWithLimit(name, requests, limits, field)),
    ...(lonelyHugePages ? [forbidden(field, 'HugePages require cpu or memory')] : []),
  ];
}

/** `podPolicy` is the pod's restartPolicy: containers that never restart cannot restart for a resize. */
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

/** A quantity of a resource, for any object with resources. */
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

function validateQuantities(
  quantities: ResourceList,
  field: string,
  nameRule: NameRule,
): readonly FieldError[] {
  return sortedKeys(quantities).flatMap((name) => {
    const at = `${field}[${name}]`;
    const quantity = quantities[name] ?? '0';
    return [
      ...nameRule(name, at),
      ...validateQuantity(name, quantity, at),
      ...validatePages(name, quantity, at),
    ];
  });
}

/** Pages are whole: `hugepages-2Mi` comes in multiples of 2Mi. */
function validatePages(name: string, quantity: string, field: string): readonly FieldError[] {
  if (!isHugePages(name)) return [];
  const page = quantityValue(name.slice(hugePagesPrefix.length));
  const isWhole =
    page > 0 && Number.isInteger(page) && Math.ceil(quantityValue(quantity)) % page === 0;
  const detail = `${quantity} is not positive integer multiple of ${name}`;
  return isWhole ? [] : [invalid(field, quantity, detail)];
}

const podLevelResources: readonly string[] = ['cpu', 'hugepages-', 'memory'];

function validatePodResourceName(name: string, field: string): readonly FieldError[] {
  const wrong = invalidEach(field, name, qualifiedName(name));
  if (wrong.length > 0) return wrong;
  const isStandard = standardResources.has(name) || otherStandardResources.has(name);
  if (!name.includes('/') && !isStandard && !isHugePages(name)) {
    return [invalid(field, name, 'must be a standard resource type or fully qualified')];
  }
  return isPodLevelResource(name) ? [] : [notSupported(field, name, podLevelResources)];
}

export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/** A name that containers can request. */
export function validateContainerResourceName(name: string, field: string): readonly FieldError[] {
  const wrong = validateStandardResourceName(name, field);
  if (name.includes('/')) {
    const isFit = isNative(name) || isExtendedName(name);
    const detail = "doesn't follow extended resource name standard";
    return isFit ? wrong : [...wrong, invalid(field, name, detail)];
  }
  if (standardResources.has(name) || isHugePages(name)) return wrong;
  return [...wrong, invalid(field, name, 'must be a standard resource for containers')];
}

/** A name of any object that has resources: of a standard one, or with a domain. */
export function validateStandardResourceName(name: string, field: string): readonly FieldError[] {
  const wrong = invalidEach(field, name, qualifiedName(name));
  const isKnown =
    name.includes('/') ||
    standardResources.has(name) ||
    otherStandardResources.has(name) ||
    isHugePages(name) ||
    name.startsWith(`requests.${hugePagesPrefix}`);
  return wrong.length > 0 || isKnown
    ? wrong
    : [invalid(field, name, 'must be a standard resource type or fully qualified')];
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

// How much of which resources an object uses. Upstream: pkg/quota/v1/evaluator/core.
import type { KubeObject } from '../../meta/object.ts';
import { compareQuantities, parseQuantity, quantityValue } from '../../schema/quantity.ts';
import { classOfClaim } from '../persistent-volume-claim/columns.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import { totalResources } from '../pod/aggregate-resources.ts';
import { isPodFinished } from '../pod/readiness.ts';
import type { ResourceList } from '../pod/resources.ts';
import type { Pod } from '../pod/types.ts';
import { isNative } from '../pod/validate-resources.ts';
import type { Service } from '../service/types.ts';
import { claimIsInScope, podIsInScope, scopesOf } from './scopes.ts';
import type { ResourceQuota, ScopeRequirement } from './types.ts';

export type Evaluator = {
  /** Whether quotas limit such a request. */
  readonly limits: (operation: 'create' | 'update', subresource: string) => boolean;
  /** Whether objects of this resource use that which the quota names so. */
  readonly knows: (name: string) => boolean;
  readonly isInScope: (requirement: ScopeRequirement, object: KubeObject) => boolean;
  readonly usage: (object: KubeObject) => ResourceList;
  /** Why the object cannot be counted. */
  readonly problem?: (names: readonly string[], object: KubeObject) => string | undefined;
};

/** By resource, such as `jobs.batch`. */
export function evaluatorOf(resource: string): Evaluator | undefined {
  if (uncounted.has(resource)) return undefined;
  let evaluator = evaluators.get(resource);
  if (evaluator === undefined) {
    evaluator = objectCounter(resource);
    evaluators.set(resource, evaluator);
  }
  return evaluator;
}

/** Upstream counts no events: they come and go without any request. */
const uncounted: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);

/** Whether the quota counts the object at all. */
export function isCounted(
  { limited, quota }: { readonly limited: readonly string[]; readonly quota: ResourceQuota },
  evaluator: Evaluator,
  object: KubeObject,
): boolean {
  return (
    limited.length > 0 &&
    scopesOf(quota.spec).every((requirement) => evaluator.isInScope(requirement, object))
  );
}

const podNames: ReadonlySet<string> = new Set([
  ...['count/pods', 'pods', 'cpu', 'memory', 'ephemeral-storage'],
  ...['requests', 'limits'].flatMap((kind) =>
    ['cpu', 'memory', 'ephemeral-storage'].map((name) => `${kind}.${name}`),
  ),
]);
const isHugePages = (name: string): boolean =>
  name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && !isNative(name.slice('requests.'.length));

const pods: Evaluator = {
  limits: (operation, subresource) =>
    operation === 'create' ? subresource === '' : subresource === 'resize',
  knows: (name) => podNames.has(name) || isHugePages(name) || isExtendedRequest(name),
  isInScope: (requirement, object) => podIsInScope(requirement, object as Pod),
  usage: (object) => usageOfPod(object as Pod),
  problem: (names, object) => missingResources(names, object as Pod),
};

/** A finished pod is an object, but computes no more. */
function usageOfPod(pod: Pod): ResourceList {
  const count = { 'count/pods': '1' };
  if (isPodFinished(pod)) return count;
  return {
    ...count,
    pods: '1',
    ...computeUsage(totalResources(pod.spec, 'requests'), totalResources(pod.spec, 'limits')),
  };
}

function computeUsage(requests: ResourceList = {}, limits: ResourceList = {}): ResourceList {
  const usage: Record<string, string> = {};
  for (const [name, quantity] of Object.entries(requests)) {
    const isStandard = podNames.has(name);
    if (isStandard || name.startsWith('hugepages-')) usage[name] = quantity;
    if (isStandard || name.startsWith('hugepages-') || !isNative(name))
      usage[`requests.${name}`] = quantity;
  }
  for (const [name, quantity] of Object.entries(limits)) {
    if (podNames.has(`limits.${name}`)) usage[`limits.${name}`] = quantity;
  }
  return usage;
}

const explicit = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

/** Processor and memory must be given for every container, unless they are given for the pod. */
function missingResources(names: readonly string[], { spec }: Pod): string | undefined {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  if (Object.keys(requests).length + Object.keys(limits).length > 0) return undefined;
  const wanted = names.filter((name) => explicit.includes(name)).sort();
  if (wanted.length === 0) return undefined;
  const used = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => ({
    name: container.name,
    usage: computeUsage(container.resources.requests, container.resources.limits),
  }));
  const missing = wanted.flatMap((name) => {
    const without = used.filter(({ usage }) => usage[name] === undefined);
    const containers = [...new Set(without.map((container) => container.name))].sort();
    return containers.length === 0 ? [] : [`${name} for: ${containers.join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}

const noScope = (): boolean => false;

const serviceNames: ReadonlySet<string> = new Set([
  ...['count/services', 'services', 'services.nodeports', 'services.loadbalancers'],
]);

const services: Evaluator = {
  limits: (_operation, subresource) => subresource === '',
  knows: (name) => serviceNames.has(name),
  isInScope: noScope,
  usage: (object) => usageOfService(object as Service),
};

function usageOfService({ spec }: Service): ResourceList {
  const { type, ports = [], allocateLoadBalancerNodePorts = true } = spec;
  const isLoadBalancer = type === 'LoadBalancer';
  const all = type === 'NodePort' || (isLoadBalancer && allocateLoadBalancerNodePorts);
  const chosen = isLoadBalancer ? ports.filter(({ nodePort = 0 }) => nodePort !== 0).length : 0;
  return {
    'count/services': '1',
    services: '1',
    'services.nodeports': String(all ? ports.length : chosen),
    'services.loadbalancers': isLoadBalancer ? '1' : '0',
  };
}

const claimNames = ['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'];
const classInfix = '.storageclass.storage.k8s.io/';

const claims: Evaluator = {
  limits: (_operation, subresource) => subresource === '',
  knows: (name) =>
    claimNames.includes(name) || claimNames.some((one) => name.endsWith(`${classInfix}${one}`)),
  isInScope: (requirement, object) => claimIsInScope(requirement, object as PersistentVolumeClaim),
  usage: (object) => usageOfClaim(object as PersistentVolumeClaim),
};

function usageOfClaim(claim: PersistentVolumeClaim): ResourceList {
  const requested = claim.spec.resources.requests?.storage;
  const allocated = claim.status.allocatedResources?.storage;
  const isLarger =
    requested !== undefined &&
    allocated !== undefined &&
    compareQuantities(allocated, requested) > 0;
  const storage = isLarger ? allocated : requested;
  const one = {
    persistentvolumeclaims: '1',
    ...(storage === undefined ? {} : { 'requests.storage': wholeBytes(storage) }),
  };
  const name = classOfClaim(claim);
  const ofClass = Object.entries(one).map(([key, value]) => [`${name}${classInfix}${key}`, value]);
  return {
    'count/persistentvolumeclaims': '1',
    ...one,
    ...(name === '' ? {} : Object.fromEntries(ofClass)),
  };
}

function wholeBytes(quantity: string): string {
  const exponent = parseQuantity(quantity)?.exponent ?? 0;
  return exponent < 0 ? String(Math.ceil(quantityValue(quantity))) : quantity;
}

/** Resources that quotas know by their plain name, too. */
const aliases: ReadonlySet<string> = new Set([
  ...['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'],
]);

function objectCounter(resource: string): Evaluator {
  const names = aliases.has(resource) ? [`count/${resource}`, resource] : [`count/${resource}`];
  const usage = Object.fromEntries(names.map((name) => [name, '1']));
  return {
    limits: (operation, subresource) => operation === 'create' && subresource === '',
    knows: (name) => names.includes(name),
    isInScope: noScope,
    usage: () => usage,
  };
}

/** Grows to one for each served resource. */
const evaluators = new Map<string, Evaluator>([
  ['pods', pods],
  ['services', services],
  ['persistentvolumeclaims', claims],
]);

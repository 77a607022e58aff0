// The QoS class of a pod.
import { compareQuantities } from '../../schema/quantity.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ResourceList, ResourceRequirements } from './resources.ts';

const counted = ['cpu', 'memory'] as const;

type Counted = Pick<ResourceRequirements, 'limits' | 'requests'>;

/** Guaranteed: all have limits equal to their requests. BestEffort: no requests or limits. Burstable: otherwise. */
export function qualityOfService(spec: PodSpec): string {
  const pod = spec.resources;
  // Pod-level resources alone decide when they are set.
  const judged: readonly Counted[] =
    pod !== undefined && asks(pod)
      ? [pod]
      : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((c) => c.resources);
  if (!judged.some(asks)) return 'BestEffort';
  return judged.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const asks = ({ limits, requests }: Counted): boolean =>
  counted.some((name) => isPositive(limits, name) || isPositive(requests, name));

function isGuaranteed({ limits, requests }: Counted): boolean {
  return counted.every(
    (name) =>
      isPositive(limits, name) &&
      (requests?.[name] === undefined ||
        compareQuantities(limits?.[name] ?? '0', requests[name] ?? '0') === 0),
  );
}

function isPositive(list: ResourceList | undefined, name: string): boolean {
  const quantity = list?.[name];
  return quantity !== undefined && compareQuantities(quantity, '0') > 0;
}

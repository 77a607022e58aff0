// Readiness of a ServiceCIDR, and its finalizer, which stays while an IPAddress needs the range. Upstream:
// pkg/controller/servicecidrs.
import { parseAddress } from '../../ip/address.ts';
import { type Cidr, containsAddress, containsCidr, parseCidr } from '../../ip/cidr.ts';
import { allocatorName, type IPAddress, managedByLabel } from '../../kinds/ip-address/types.ts';
import { readyCondition, type ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import type { Condition } from '../../meta/conditions.ts';
import { formatTime, parseTime } from '../../schema/time.ts';

export const serviceCidrFinalizer = 'networking.k8s.io/service-cidr-finalizer';
/** Allocators may not have observed the deletion yet and may still allocate an address for this long. */
const deletionGraceMs = 10_000;

const readyMessage = 'Kubernetes Service CIDR is ready';

export type ServiceCidrSituation = {
  readonly serviceCidr: ServiceCIDR;
  readonly all: Iterable<ServiceCIDR>;
  readonly addresses: Iterable<IPAddress>;
  readonly now: number;
};

export type ServiceCidrStep =
  | { readonly action: 'none' }
  | { readonly action: 'finalizers'; readonly finalizers: readonly string[] }
  | { readonly action: 'condition'; readonly condition: Condition }
  | { readonly action: 'wait'; readonly ms: number };

/** The next step; its write brings the object back. */
export function nextStep(situation: ServiceCidrSituation): ServiceCidrStep {
  const { serviceCidr, now } = situation;
  const { finalizers = [], deletionTimestamp } = serviceCidr.metadata;
  if (deletionTimestamp !== undefined) return nextStepOfDeletion(situation, deletionTimestamp);
  if (!finalizers.includes(serviceCidrFinalizer)) {
    return { action: 'finalizers', finalizers: [...finalizers, serviceCidrFinalizer] };
  }
  // The API server sets the condition of the default range with another message; upstream's controller replaces it too.
  const current = readyOf(serviceCidr);
  if (current?.status === 'True' && current.message === readyMessage) return { action: 'none' };
  return { action: 'condition', condition: ready('True', '', readyMessage, now) };
}

function nextStepOfDeletion(
  situation: ServiceCidrSituation,
  deletionTimestamp: string,
): ServiceCidrStep {
  const { serviceCidr, now } = situation;
  const { finalizers = [] } = serviceCidr.metadata;
  if (!finalizers.includes(serviceCidrFinalizer)) return { action: 'none' };
  if (isNeeded(situation)) {
    const current = readyOf(serviceCidr);
    if (current?.status === 'False' && current.reason === 'Terminating') return { action: 'none' };
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';
    return { action: 'condition', condition: ready('False', 'Terminating', message, now) };
  }
  const left = (parseTime(deletionTimestamp) ?? now) + deletionGraceMs - now;
  if (left > 0) return { action: 'wait', ms: left };
  return {
    action: 'finalizers',
    finalizers: finalizers.filter((name) => name !== serviceCidrFinalizer),
  };
}

/** An address is in this range and in no other one that is not being deleted. */
function isNeeded({ serviceCidr, all, addresses }: ServiceCidrSituation): boolean {
  const own = rangesOf(serviceCidr);
  const others = [...all]
    .filter(
      ({ metadata }) =>
        metadata.name !== serviceCidr.metadata.name && metadata.deletionTimestamp === undefined,
    )
    .flatMap(rangesOf);
  const uncovered = own.filter((range) => !others.some((other) => containsCidr(other, range)));
  if (uncovered.length === 0) return false;
  for (const { metadata } of addresses) {
    if (metadata.labels?.[managedByLabel] !== allocatorName) continue;
    const address = parseAddress(metadata.name ?? '');
    if (address === undefined || !uncovered.some((range) => containsAddress(range, address)))
      continue;
    if (!others.some((range) => containsAddress(range, address))) return true;
  }
  return false;
}

/** Whether the address is in the range, in any state. */
export function hasAddress(serviceCidr: ServiceCIDR, name: string): boolean {
  const address = parseAddress(name);
  return (
    address !== undefined && rangesOf(serviceCidr).some((range) => containsAddress(range, address))
  );
}

function rangesOf({ spec }: ServiceCIDR): readonly Cidr[] {
  return (spec.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []);
}

function readyOf({ status }: ServiceCIDR): Condition | undefined {
  return status.conditions?.find(({ type }) => type === readyCondition);
}

function ready(
  status: Condition['status'],
  reason: string,
  message: string,
  now: number,
): Condition {
  return { type: readyCondition, status, lastTransitionTime: formatTime(now), reason, message };
}

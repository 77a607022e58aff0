// The write that brings the Endpoints of a Service to what is desired.
import { withTriggerTime } from '../../kinds/endpoints/trigger-time.ts';
import type { EndpointAddress, EndpointSubset, Endpoints } from '../../kinds/endpoints/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { DesiredEndpoints } from './desired.ts';

export type EndpointsChange =
  | { readonly action: 'none' }
  | { readonly action: 'create' | 'update'; readonly endpoints: Endpoints };

export type EndpointsDiff = {
  readonly service: Service;
  readonly desired: DesiredEndpoints;
  /** Absent when there are none. */
  readonly current?: Endpoints | undefined;
  readonly triggerTime?: string | undefined;
};

const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
const truncated = 'truncated';

export function diffEndpoints({
  service,
  desired,
  current,
  triggerTime,
}: EndpointsDiff): EndpointsChange {
  if (current !== undefined && isUpToDate(current, desired)) return { action: 'none' };
  const { annotations: before, labels: _, ...metadata } = current?.metadata ?? {};
  const { name = '', namespace = '' } = service.metadata;
  const annotations = withCapacity(withTriggerTime(before, triggerTime), desired.isTruncated);
  const endpoints: Endpoints = {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: {
      ...metadata,
      name,
      namespace,
      labels: desired.labels,
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(desired.subsets.length === 0 ? {} : { subsets: desired.subsets }),
  };
  return { action: current === undefined ? 'create' : 'update', endpoints };
}

/** Differences in other annotations, the trigger time or the pods' resource versions cause no write. */
function isUpToDate({ metadata, subsets = [] }: Endpoints, desired: DesiredEndpoints): boolean {
  const capacity = metadata.annotations?.[overCapacityAnnotation];
  return (
    capacity === (desired.isTruncated ? truncated : undefined) &&
    deepEqual(metadata.labels ?? {}, desired.labels) &&
    deepEqual(subsets.map(withoutVersions), desired.subsets.map(withoutVersions))
  );
}

function withoutVersions({ addresses, notReadyAddresses, ...subset }: EndpointSubset): unknown {
  return {
    ...subset,
    addresses: addresses?.map(withoutVersion),
    notReadyAddresses: notReadyAddresses?.map(withoutVersion),
  };
}

function withoutVersion(address: EndpointAddress): EndpointAddress {
  if (address.targetRef?.resourceVersion === undefined) return address;
  const { resourceVersion: _, ...targetRef } = address.targetRef;
  return { ...address, targetRef };
}

function withCapacity(
  annotations: Readonly<Record<string, string>> | undefined,
  isTruncated: boolean,
): Readonly<Record<string, string>> | undefined {
  const { [overCapacityAnnotation]: _, ...others } = annotations ?? {};
  const all = isTruncated ? { ...others, [overCapacityAnnotation]: truncated } : others;
  return Object.keys(all).length === 0 ? undefined : all;
}

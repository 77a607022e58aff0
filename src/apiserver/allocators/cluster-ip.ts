// Allocates the cluster IPs of one write. An allocated address is an IPAddress object, which shows its Service.

import { type Address, formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { ipAddressDefinition } from '../../kinds/ip-address/definition.ts';
import type { IPAddress, ParentReference } from '../../kinds/ip-address/types.ts';
import { allocatorName, familyLabel, managedByLabel } from '../../kinds/ip-address/types.ts';
import { validateIPAddress } from '../../kinds/ip-address/validate.ts';
import type { AddressRequest } from '../../kinds/service/allocation.ts';
import { type Service, withSpec } from '../../kinds/service/types.ts';
import { ApiError, internal, invalid } from '../../meta/api-error.ts';
import { invalid as invalidField } from '../../meta/field-error.ts';
import { apiServerManager } from '../../meta/field-managers.ts';
import { groupVersion } from '../../meta/object.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { internSet } from '../patch/known-sets.ts';
import { type AddressRange, offersAddress } from './address-ranges.ts';
import type { AllocatedAddresses } from './allocated-addresses.ts';
import type { AllocatorMetrics } from './metrics.ts';
import { pickFree } from './pick-free.ts';

export type AddressSource = {
  readonly reader: ObjectReader;
  readonly addresses: AllocatedAddresses;
  readonly ranges: (family: Address['family']) => readonly AddressRange[];
  readonly random: (below: number) => number;
  readonly newUid: () => string;
  /** The time of the request, RFC 3339 in whole seconds. */
  readonly now: string;
  readonly dryRun: boolean;
  /** Absent: not counted. */
  readonly metrics?: AllocatorMetrics | undefined;
};

export type AddressGrant = { readonly service: Service; readonly taken: readonly IPAddress[] };

export const ipAddressResource = 'ipaddresses.networking.k8s.io';

/** Fills in the addresses of a plan; throws the error of the first that cannot be allocated. */
export function allocateAddresses(
  service: Service,
  requests: readonly AddressRequest[],
  source: AddressSource,
): AddressGrant {
  if (requests.length === 0) return { service, taken: [] };
  const clusterIPs = [...(service.spec.clusterIPs ?? [])];
  for (const { index } of requests) clusterIPs[index] ??= '';
  const provided = [...clusterIPs];
  // As error messages show it; created only for them.
  const requested: RequestedService = () => withSpec(service, { clusterIPs: provided });
  const taken: IPAddress[] = [];
  for (const request of requests) {
    const address = chooseAddress(requested, request, source);
    // A requested address stays as the client wrote it.
    clusterIPs[request.index] = request.address ?? formatAddress(address);
    if (source.dryRun) continue;
    const object = ipAddressFor(service, address, source);
    refuseParent(requested, request, object);
    taken.push(object);
  }
  return { service: withSpec(service, { clusterIP: clusterIPs[0], clusterIPs }), taken };
}

/** The service as requested, with an element for each address. */
type RequestedService = () => Service;

function chooseAddress(
  requested: RequestedService,
  request: AddressRequest,
  source: AddressSource,
): Address {
  const ranges = source.ranges(request.family);
  const outcome =
    request.address === undefined
      ? anyAddress(ranges, source)
      : providedAddress(request.address, ranges, source);
  if (typeof outcome !== 'string') return outcome;
  throw request.address === undefined
    ? internal(`failed to allocate a serviceIP: ${outcome}`)
    : refusal(
        requested,
        request,
        outcome,
        outcome === mismatch ? rangesHint(request, ranges) : undefined,
      );
}

/** Upstream's message does not say which addresses are valid. */
function rangesHint({ address }: AddressRequest, ranges: readonly AddressRange[]): string {
  const known = ranges.map(({ text }) => text).join(', ');
  if (known === '') return `spec.clusterIPs: this cluster has no range for ${address}`;
  return `spec.clusterIPs: ${address} is in none of the ranges of Services: ${known}`;
}

const notReady = 'allocator not ready';

/** The address, or why it cannot be allocated. */
function providedAddress(
  text: string,
  ranges: readonly AddressRange[],
  { reader, dryRun, metrics }: AddressSource,
): Address | string {
  const address = parseAddressSloppy(text);
  const range = address && ranges.find((candidate) => offersAddress(candidate, address));
  if (address === undefined || (range === undefined && !dryRun)) return mismatch;
  if (range === undefined) return outsideInDryRun(address, ranges);
  if (dryRun) return address;
  const startedAt = performance.now();
  if (reader.get(ipAddressResource, '', formatAddress(address)) !== undefined) {
    metrics?.addressRefused(range.text, 'static');
    return 'provided IP is already allocated';
  }
  metrics?.addressAllocated(range.text, 'static', startedAt);
  return address;
}

const mismatch = 'the provided network does not match the current range';

/** In a dry run, upstream checks the first range only, and names that one. */
function outsideInDryRun(address: Address, [range]: readonly AddressRange[]): string {
  if (range === undefined) return notReady;
  return `the provided IP (${formatAddress(address)}) is not in the valid range. The range of valid IPs is ${range.text}`;
}

/** From the first range with a free address. */
function anyAddress(
  ranges: readonly AddressRange[],
  { addresses, random, dryRun, metrics }: AddressSource,
): Address | string {
  for (const { cidr, text, bands } of ranges) {
    const { family } = cidr;
    // A dry run does not search; it shows the network address, which no service can have.
    if (dryRun) return { family, value: cidr.base };
    const startedAt = performance.now();
    const firstFree = (from: bigint, to: bigint) => addresses.firstFree(family, from, to);
    const pending = addresses.pending[family];
    const value = pickFree({ bands, firstFree, pending, random });
    if (value !== undefined) {
      metrics?.addressAllocated(text, 'dynamic', startedAt);
      return { family, value };
    }
    metrics?.addressRefused(text, 'dynamic');
  }
  return dryRun ? notReady : 'range is full';
}

/** A service without a valid name is detected here first: its IPAddress would have no valid parent. */
function refuseParent(
  requested: RequestedService,
  request: AddressRequest,
  object: IPAddress,
): void {
  const errors = validateIPAddress(object);
  if (errors.length === 0) return;
  throw refusal(
    requested,
    request,
    invalid(ipAddressDefinition, object.metadata.name ?? '', errors).message,
  );
}

function refusal(
  requested: RequestedService,
  { address }: AddressRequest,
  why: string,
  hint?: string,
): ApiError {
  const { metadata, spec } = requested();
  const which = address === undefined ? '' : ` ${address}`;
  const detail = `failed to allocate IP${which}: ${why}`;
  const error = invalidField('spec.clusterIPs', spec.clusterIPs, detail);
  const refused = invalid({ group: '', kind: 'Service' }, metadata.name ?? '', [error]);
  return hint === undefined ? refused : new ApiError(refused.status, { hint });
}

function ipAddressFor(
  { metadata }: Service,
  address: Address,
  { newUid, now }: AddressSource,
): IPAddress {
  return {
    kind: ipAddressDefinition.kind,
    apiVersion,
    metadata: {
      name: formatAddress(address),
      uid: newUid(),
      creationTimestamp: now,
      labels: { [familyLabel]: address.family, [managedByLabel]: allocatorName },
      managedFields: [
        {
          manager: apiServerManager,
          operation: 'Update',
          apiVersion,
          time: now,
          fieldsType: 'FieldsV1',
          fieldsV1: setFields,
        },
      ],
    },
    spec: { parentRef: parentOf(metadata) },
  };
}

function parentOf({ name, namespace }: Service['metadata']): ParentReference {
  const resource = 'services';
  // By far the most common form, created as one literal.
  if (name !== undefined && namespace !== undefined) return { resource, namespace, name };
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

const apiVersion = groupVersion(ipAddressDefinition.group, ipAddressDefinition.version);

const setFields = internSet({
  'f:metadata': { 'f:labels': { '.': {}, [`f:${familyLabel}`]: {}, [`f:${managedByLabel}`]: {} } },
  'f:spec': { 'f:parentRef': { '.': {}, 'f:name': {}, 'f:namespace': {}, 'f:resource': {} } },
});

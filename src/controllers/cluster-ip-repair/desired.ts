// Compares Services with the IPAddresses allocated for them, in both directions, and says how to repair differences.
// Upstream: pkg/registry/core/service/ipallocator/controller/repairip.go.
import { type Address, formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { addressCount, type Cidr, containsAddress } from '../../ip/cidr.ts';
import {
  allocatorName,
  familyLabel,
  type IPAddress,
  managedByLabel,
} from '../../kinds/ip-address/types.ts';
import { headlessIP, type Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import { parseTime } from '../../schema/time.ts';

export type Finding = {
  readonly reason: string;
  readonly message: string;
};

export type ServiceFinding = Finding & {
  /** Repaired without an event. */
  readonly withoutEvent?: boolean;
  /** The IPAddress to create, and the one it replaces. */
  readonly repair?: { readonly make: IPAddress; readonly replace?: IPAddress };
};

export type ServiceSituation = {
  readonly service: Service;
  readonly ranges: readonly Cidr[];
  readonly addressNamed: (name: string) => IPAddress | undefined;
  /** By `namespace/name`. */
  readonly serviceNamed: (key: string) => Service | undefined;
};

export function judgeService(situation: ServiceSituation): readonly ServiceFinding[] {
  return clusterIPsOf(situation.service).flatMap((text) => {
    const address = parseAddressSloppy(text);
    if (address === undefined) {
      const message = `Cluster IP ${text} is not a valid IP; please recreate Service`;
      return [{ reason: 'ClusterIPNotValid', message }];
    }
    return judgeClusterIP(situation, address) ?? [];
  });
}

function clusterIPsOf({ spec }: Service): readonly string[] {
  const { clusterIPs = [], type } = spec;
  return type === 'ExternalName'
    ? []
    : clusterIPs.filter((text) => text !== headlessIP && text !== '');
}

function judgeClusterIP(situation: ServiceSituation, address: Address): ServiceFinding | undefined {
  const { service, ranges, addressNamed, serviceNamed } = situation;
  const text = formatAddress(address);
  const subject = `[${address.family}]: ${text}`;
  if (!ranges.some((range) => isAllocatable(range, address))) {
    const message = `Cluster IP ${subject} is not within any configured Service CIDR; please recreate service`;
    return { reason: 'ClusterIPOutOfRange', message };
  }
  const make = addressFor(service, address);
  const existing = addressNamed(text);
  if (existing === undefined) {
    const message = `Cluster IP ${subject} is not allocated; repairing`;
    return { reason: 'ClusterIPNotAllocated', message, repair: { make } };
  }
  const wrong = (what: string): ServiceFinding => ({
    reason: 'ClusterIPNotAllocated',
    message: `the ClusterIP ${subject} for Service ${objectKey(service.metadata)} has ${what}; repairing`,
    repair: { make, replace: existing },
  });
  const parentKey = serviceKeyOf(existing);
  if (parentKey === undefined) return wrong('a wrong reference');
  if (parentKey !== objectKey(service.metadata)) {
    const other = serviceNamed(parentKey);
    if (other === undefined || !hasClusterIP(other, text)) return wrong('a wrong reference');
    // Both Services have the cluster IP; the one that the IPAddress refers to keeps it.
    const message = `Cluster IP [${address.family}]:${text} was assigned to multiple services; please recreate service`;
    return { reason: 'ClusterIPAlreadyAllocated', message };
  }
  return isManaged(existing) && existing.metadata.labels?.[familyLabel] === address.family
    ? undefined
    : { ...wrong('wrong labels'), withoutEvent: true };
}

/** The first address of a range is the network's own, and the last of an IPv4 range is the broadcast address. */
function isAllocatable(range: Cidr, address: Address): boolean {
  if (!containsAddress(range, address)) return false;
  const last = range.base + addressCount(range) - 1n;
  return address.value !== range.base && (range.family === 'IPv6' || address.value !== last);
}

export function addressFor({ metadata }: Service, address: Address): IPAddress {
  const { name = '', namespace = '' } = metadata;
  return {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: formatAddress(address),
      labels: { [familyLabel]: address.family, [managedByLabel]: allocatorName },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  };
}

const isManaged = ({ metadata }: IPAddress): boolean =>
  metadata.labels?.[managedByLabel] === allocatorName;

/** The key of the Service that the IPAddress refers to; undefined when its parent is not a Service. */
export function serviceKeyOf({ spec }: IPAddress): string | undefined {
  const { group = '', resource, namespace = '', name = '' } = spec.parentRef ?? {};
  return group === '' && resource === 'services' ? objectKey({ namespace, name }) : undefined;
}

const hasClusterIP = (service: Service, name: string): boolean =>
  addressNamesOf(service).includes(name);

/** Names of the IPAddresses of the Service's cluster IPs, in canonical form. */
export function addressNamesOf(service: Service): readonly string[] {
  return clusterIPsOf(service).flatMap((text) => {
    const address = parseAddressSloppy(text);
    return address === undefined ? [] : [formatAddress(address)];
  });
}

/** Another API server may write the IPAddress before the Service. */
const leakGraceMs = 60_000;
/** The informer of Services may lag behind that of IPAddresses. */
const youngGraceMs = 5000;

export type AddressVerdict =
  | { readonly action: 'none' }
  | { readonly action: 'wait'; readonly ms: number }
  | ({ readonly action: 'delete' } & Finding);

export type AddressSituation = {
  readonly address: IPAddress;
  /** The Service that the IPAddress refers to, if it exists. */
  readonly service?: Service | undefined;
  readonly now: number;
};

export function judgeAddress({ address, service, now }: AddressSituation): AddressVerdict {
  if (!isManaged(address)) return { action: 'none' };
  const name = address.metadata.name ?? '';
  const key = serviceKeyOf(address);
  if (key === undefined) {
    const message = `IPAddress ${name} appears to have been modified, not referencing a Service ${goText(address)}: cleaning up`;
    return { action: 'delete', reason: 'IPAddressNotAllocated', message };
  }
  const createdMs = timeOf(address, now);
  if (service === undefined) {
    const message = `IPAddress: ${name} for Service ${key} appears to have leaked: cleaning up`;
    return afterGrace(createdMs + leakGraceMs - now, 'IPAddressNotAllocated', message);
  }
  if (hasClusterIP(service, name)) return { action: 'none' };
  const message = `IPAddress: ${name} for Service ${key} has a wrong reference; cleaning up`;
  // A Service that was an ExternalName may be getting its cluster IP at this moment.
  const isTurning = service.spec.type === 'ExternalName';
  const isYounger = createdMs > timeOf(service, now);
  const graceMs = isTurning ? leakGraceMs : isYounger ? youngGraceMs : 0;
  return afterGrace(
    graceMs === 0 ? 0 : createdMs + graceMs - now,
    'IPAddressWrongReference',
    message,
  );
}

/** The parent reference as Go's %v prints it. */
function goText({ spec }: IPAddress): string {
  const { group = '', resource = '', namespace = '', name = '' } = spec.parentRef ?? {};
  return `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${name},}`;
}

function afterGrace(remainingMs: number, reason: string, message: string): AddressVerdict {
  return remainingMs > 0
    ? { action: 'wait', ms: remainingMs }
    : { action: 'delete', reason, message };
}

function timeOf({ metadata }: IPAddress | Service, now: number): number {
  const { creationTimestamp } = metadata;
  return creationTimestamp === undefined ? now : (parseTime(creationTimestamp) ?? now);
}

// Maintains the state of one family: takes the current objects of one Service at a time, and returns which service ports differ
// since the last call of `take`. The work is proportional to the change, not to the size of the cluster.

import {
  type AddressOwners,
  createOwnerLookup,
  type OwnerLookup,
} from '../../kinds/service/address-owners.ts';
import type { Service } from '../../kinds/service/types.ts';
import { type EndpointEntry, type EndpointsByPort, endpointsByPort } from './endpoints.ts';
import { createNamedAddresses, withOutranked } from './named-addresses.ts';
import { namesAddresses, ownAddresses, type RefusedAddress } from './own-addresses.ts';
import { createPortTable, type PortListener } from './port-table.ts';
import { countLocalReady, selectEndpoints } from './select-endpoints.ts';
import { type PortRequest, servicePorts } from './service-ports.ts';
import type { NodeState, ProxyState, ServicePort, StateChange } from './state.ts';
import { portId, type TrimmedSlice } from './trim-objects.ts';

export type ServiceObjects = {
  /** Absent if it does not exist. */
  readonly service?: Service;
  readonly slices: readonly TrimmedSlice[];
};

/** What service ports depend on besides the objects of their Service. */
export type NodeView = {
  readonly node: NodeState;
  readonly zone: string;
  /** Owners of addresses that no Service captures. */
  readonly owners: AddressOwners;
};

export type HealthCheck = { readonly port: number; readonly localEndpoints: number };

export type StateTracker = {
  readonly update: (serviceKey: string, objects: ServiceObjects) => void;
  /** Returns the Services that must be updated because they depend on what changed. */
  readonly setNode: (view: NodeView) => 'all' | readonly string[];
  /** Services that name one of the addresses. */
  readonly naming: (addresses: readonly string[]) => readonly string[];
  /** By `namespace/name`: addresses that a Service names and that are not captured for it. */
  readonly refused: () => ReadonlyMap<string, readonly RefusedAddress[]>;
  /** The state, and what differs from that of the previous call. */
  readonly take: () => { readonly state: ProxyState; readonly change: StateChange };
  /** Makes the next change a full one. */
  readonly forget: () => void;
  /** By `namespace/name`: Services with a health check node port (KPX-36). */
  readonly healthChecks: () => ReadonlyMap<string, HealthCheck>;
  /** The endpoints that serve a UDP port, as `ip port`, including those that get no new flows (KPX-44). */
  readonly servingUDP: (portKey: string) => ReadonlySet<string>;
  /** How many service ports have endpoints, but none that policy Local may use here (KPX-54). */
  readonly withoutLocal: () => { readonly internal: number; readonly external: number };
};

export type TrackerOptions = {
  readonly allowsExternalIPs: boolean;
  /** Captures all addresses that a Service names, as kube-proxy does. */
  readonly allowsForeignAddresses: boolean;
  /** Why an address is an endpoint of a Service or pod; undefined: it is none. */
  readonly endpointOwner: (ip: string) => string | undefined;
};

export function createStateTracker(first: NodeView, options: TrackerOptions): StateTracker {
  let view = first;
  let changed: Set<string> | 'all' = 'all';
  const portsOf = new Map<string, readonly string[]>();
  const healthChecks = new Map<string, HealthCheck>();
  const servingUDP = new Map<string, ReadonlySet<string>>();
  const withoutLocal = { internal: 0, external: 0 };
  const naming = createNamedAddresses();
  const refused = new Map<string, readonly RefusedAddress[]>();
  let ownerOf = lookupFor(first, options);
  const changedPort: PortListener = (key, before, after) => {
    countWithoutLocal(withoutLocal, before, -1);
    countWithoutLocal(withoutLocal, after, 1);
    if (changed !== 'all') changed.add(key);
  };
  const { allowsForeignAddresses } = options;
  const table = createPortTable({ changed: changedPort, allowsForeignAddresses });
  return {
    update(serviceKey, { service, slices }) {
      const buildOptions = { view, options, ownerOf };
      const found = service === undefined ? noPorts : buildPorts(service, slices, buildOptions);
      for (const key of portsOf.get(serviceKey) ?? []) {
        if (found.ports.has(key)) continue;
        table.remove(key);
        servingUDP.delete(key);
      }
      const created = service?.metadata.creationTimestamp ?? '';
      for (const port of found.ports.values()) table.put(port, created);
      for (const [key, serving] of found.servingUDP) servingUDP.set(key, serving);
      table.settle();
      setOrDelete(portsOf, serviceKey, nonEmpty([...found.ports.keys()]));
      setOrDelete(healthChecks, serviceKey, found.healthCheck);
      naming.set(serviceKey, found.named);
      setOrDelete(refused, serviceKey, nonEmpty(found.refused));
    },
    setNode(next) {
      const needsAll = next.zone !== view.zone || next.node.nodeIPs[0] !== view.node.nodeIPs[0];
      // Comparing JSON is enough: both are made by the same code, in the same order.
      const isSame = JSON.stringify(next.node) === JSON.stringify(view.node);
      if (!isSame) changed = 'all';
      // Modes compare by identity.
      const isSameOwners = JSON.stringify(next.owners) === JSON.stringify(view.owners);
      view = isSame ? { ...next, node: view.node } : next;
      if (!isSameOwners) ownerOf = lookupFor(view, options);
      if (needsAll) return 'all';
      return isSameOwners ? nothing : naming.services();
    },
    take() {
      const change: StateChange =
        changed === 'all' ? { kind: 'full' } : { kind: 'ports', keys: changed };
      changed = new Set();
      return { state: { node: view.node, ports: table.ports }, change };
    },
    forget() {
      changed = 'all';
    },
    naming: naming.naming,
    refused: () => withOutranked(refused, table),
    healthChecks: () => healthChecks,
    servingUDP: (portKey) => servingUDP.get(portKey) ?? noServing,
    withoutLocal: () => withoutLocal,
  };
}

const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined =>
  list.length === 0 ? undefined : list;

function setOrDelete<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

type BuiltPorts = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  readonly servingUDP: ReadonlyMap<string, ReadonlySet<string>>;
  readonly healthCheck?: HealthCheck;
  /** Addresses that the Service names. */
  readonly named: readonly string[];
  readonly refused: readonly RefusedAddress[];
};

const nothing: readonly never[] = [];
const noPorts: BuiltPorts = {
  ports: new Map(),
  servingUDP: new Map(),
  named: nothing,
  refused: nothing,
};
const noServing: ReadonlySet<string> = new Set();

type BuildOptions = {
  readonly view: NodeView;
  readonly options: TrackerOptions;
  readonly ownerOf: OwnerLookup | undefined;
};

function lookupFor(
  { owners }: NodeView,
  { allowsForeignAddresses, endpointOwner }: TrackerOptions,
): OwnerLookup | undefined {
  return allowsForeignAddresses ? undefined : createOwnerLookup(owners, endpointOwner);
}

function buildPorts(
  service: Service,
  slices: readonly TrimmedSlice[],
  { view: { node, zone }, options: { allowsExternalIPs }, ownerOf }: BuildOptions,
): BuiltPorts {
  const { family, nodeName, nodeIPs } = node;
  const nodeIP = nodeIPs[0];
  const requested = servicePorts(service, {
    family,
    allowsExternalIPs,
    ...(nodeIP === undefined ? {} : { nodeIP }),
  });
  if (requested.length === 0) return noPorts;
  const named = requested.some(namesAddresses)
    ? requested.flatMap((one) => [...one.externalIPs, ...one.loadBalancerIPs])
    : nothing;
  const isJudged = named.length > 0 && ownerOf !== undefined;
  const { requests, refused } = isJudged
    ? ownAddresses(requested, ownerOf)
    : { requests: requested, refused: nothing };
  const endpoints = endpointsByPort(slices, { family, nodeName });
  const ports = new Map<string, ServicePort>();
  const servingUDP = new Map<string, ReadonlySet<string>>();
  for (const request of requests) {
    const entries = endpoints.get(portId(request.portName, request.protocol)) ?? [];
    const port = { ...request, ...selectEndpoints(entries, request, { nodeName, zone }) };
    // Two ports of one name and protocol, which validation refuses: the first counts.
    if (ports.has(port.key)) continue;
    ports.set(port.key, port);
    if (port.protocol === 'UDP') servingUDP.set(port.key, servingOf(entries));
  }
  return { ports, servingUDP, named, refused, ...healthCheckOf(requests, endpoints) };
}

function servingOf(entries: readonly EndpointEntry[]): ReadonlySet<string> {
  const serving = entries.filter(({ facts }) => facts.isReady || facts.isServing);
  return serving.length === 0 ? noServing : new Set(serving.map(({ ip, port }) => `${ip} ${port}`));
}

function healthCheckOf(
  requests: readonly PortRequest[],
  endpoints: EndpointsByPort,
): Pick<BuiltPorts, 'healthCheck'> {
  const port = requests[0]?.healthCheckNodePort;
  if (port === undefined) return {};
  return { healthCheck: { port, localEndpoints: countLocalReady(endpoints.values()) } };
}

function countWithoutLocal(
  counts: { internal: number; external: number },
  port: ServicePort | undefined,
  by: number,
): void {
  if (port === undefined || !port.hasEndpoints || port.localEndpoints.length > 0) return;
  if (port.internalPolicy === 'Local') counts.internal += by;
  if (port.externalPolicy === 'Local') counts.external += by;
}

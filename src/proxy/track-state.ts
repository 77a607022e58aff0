// Keeps the state of one family: takes the objects of one Service at a time as they are now, and tells which service
// ports differ since it was last asked. The work follows the change, not the size of the cluster.

import type { Service } from '../kinds/service/types.ts';
import { type EndpointEntry, type EndpointsByPort, endpointsByPort } from './endpoints.ts';
import { createPortTable } from './port-table.ts';
import { countLocalReady, selectEndpoints } from './select-endpoints.ts';
import { type PortRequest, servicePorts } from './service-ports.ts';
import type { NodeState, ProxyState, ServicePort, StateChange } from './state.ts';
import { portId, type TrimmedSlice } from './trim-objects.ts';

export type ServiceObjects = {
  /** Absent when there is none. */
  readonly service?: Service;
  readonly slices: readonly TrimmedSlice[];
};

/** What the services' endpoints depend on besides the objects of each. */
export type NodeView = { readonly node: NodeState; readonly zone: string };

export type HealthCheck = { readonly port: number; readonly localEndpoints: number };

export type StateTracker = {
  readonly update: (serviceKey: string, objects: ServiceObjects) => void;
  /** Returns whether every Service must be updated anew, because what it holds depends on what changed. */
  readonly setNode: (view: NodeView) => boolean;
  /** The state, and what differs from the one before; the next call starts from here. */
  readonly take: () => { readonly state: ProxyState; readonly change: StateChange };
  /** Makes the next change a full one. */
  readonly forget: () => void;
  /** By `namespace/name`: Services whose balancer asks nodes for their health (KPX-36). */
  readonly healthChecks: () => ReadonlyMap<string, HealthCheck>;
  /** Who answers on a UDP port, as `ip port`, also without getting new flows (KPX-44). */
  readonly servingUDP: (portKey: string) => ReadonlySet<string>;
  /** How many service ports have endpoints, but none that policy Local may use here (KPX-54). */
  readonly withoutLocal: () => { readonly internal: number; readonly external: number };
};

export type TrackerOptions = { readonly allowsExternalIPs: boolean };

export function createStateTracker(first: NodeView, options: TrackerOptions): StateTracker {
  let view = first;
  let changed: Set<string> | 'all' = 'all';
  const portsOf = new Map<string, readonly string[]>();
  const healthChecks = new Map<string, HealthCheck>();
  const servingUDP = new Map<string, ReadonlySet<string>>();
  const withoutLocal = { internal: 0, external: 0 };
  const table = createPortTable((key, before, after) => {
    countWithoutLocal(withoutLocal, before, -1);
    countWithoutLocal(withoutLocal, after, 1);
    if (changed !== 'all') changed.add(key);
  });
  return {
    update(serviceKey, { service, slices }) {
      const found = service === undefined ? noPorts : buildPorts(service, slices, view, options);
      for (const key of portsOf.get(serviceKey) ?? []) {
        if (found.ports.has(key)) continue;
        table.remove(key);
        servingUDP.delete(key);
      }
      const created = service?.metadata.creationTimestamp ?? '';
      for (const port of found.ports.values()) table.put(port, created);
      for (const [key, serving] of found.servingUDP) servingUDP.set(key, serving);
      table.settle();
      setOrDelete(
        portsOf,
        serviceKey,
        found.ports.size === 0 ? undefined : [...found.ports.keys()],
      );
      setOrDelete(healthChecks, serviceKey, found.healthCheck);
    },
    setNode(next) {
      const needsAll = next.zone !== view.zone || next.node.nodeIPs[0] !== view.node.nodeIPs[0];
      // Comparing text is enough: both are made by the same code, in the same order.
      const isSame = JSON.stringify(next.node) === JSON.stringify(view.node);
      if (!isSame) changed = 'all';
      // Modes compare by identity.
      view = isSame ? { ...next, node: view.node } : next;
      return needsAll;
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
    healthChecks: () => healthChecks,
    servingUDP: (portKey) => servingUDP.get(portKey) ?? nobody,
    withoutLocal: () => withoutLocal,
  };
}

function setOrDelete<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

type Built = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  readonly servingUDP: ReadonlyMap<string, ReadonlySet<string>>;
  readonly healthCheck?: HealthCheck;
};

const noPorts: Built = { ports: new Map(), servingUDP: new Map() };
const nobody: ReadonlySet<string> = new Set();

function buildPorts(
  service: Service,
  slices: readonly TrimmedSlice[],
  { node, zone }: NodeView,
  { allowsExternalIPs }: TrackerOptions,
): Built {
  const { family, nodeName, nodeIPs } = node;
  const nodeIP = nodeIPs[0];
  const requests = servicePorts(service, {
    family,
    allowsExternalIPs,
    ...(nodeIP === undefined ? {} : { nodeIP }),
  });
  if (requests.length === 0) return noPorts;
  const endpoints = endpointsByPort(slices, { family, nodeName });
  const ports = new Map<string, ServicePort>();
  const servingUDP = new Map<string, ReadonlySet<string>>();
  for (const request of requests) {
    const entries = endpoints.get(portId(request.portName, request.protocol)) ?? [];
    const port = { ...request, ...selectEndpoints(entries, request, { nodeName, zone }) };
    // Two ports of one name and protocol, which no server lets in: the first stands.
    if (ports.has(port.key)) continue;
    ports.set(port.key, port);
    if (port.protocol === 'UDP') servingUDP.set(port.key, servingOf(entries));
  }
  return { ports, servingUDP, ...healthCheckOf(requests, endpoints) };
}

function servingOf(entries: readonly EndpointEntry[]): ReadonlySet<string> {
  const serving = entries.filter(({ facts }) => facts.isReady || facts.isServing);
  return serving.length === 0 ? nobody : new Set(serving.map(({ ip, port }) => `${ip} ${port}`));
}

function healthCheckOf(
  requests: readonly PortRequest[],
  endpoints: EndpointsByPort,
): Pick<Built, 'healthCheck'> {
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

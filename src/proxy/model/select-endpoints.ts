// Which endpoints traffic may use: ready ones before terminating ones, near ones where hints say so, those of this
// node under policy Local.
import type { EndpointEntry } from './endpoints.ts';
import { isExternallyReachable, type PortRequest } from './service-ports.ts';
import type { Endpoint, ServicePort } from './state.ts';

export type SelectedEndpoints = Pick<
  ServicePort,
  'clusterEndpoints' | 'localEndpoints' | 'hasEndpoints'
>;

export type NodeLocation = { readonly nodeName: string; readonly zone: string };

const none: readonly Endpoint[] = [];

export function selectEndpoints(
  entries: readonly EndpointEntry[],
  port: PortRequest,
  location: NodeLocation,
): SelectedEndpoints {
  const usesLocal = port.internalPolicy === 'Local' || port.externalPolicy === 'Local';
  // Policy Local outside needs the others as well, for traffic that starts here (KPX-17).
  const usesCluster = port.internalPolicy === 'Cluster' || isExternallyReachable(port);
  return {
    clusterEndpoints: usesCluster ? plain(clusterEntries(entries, location)) : none,
    localEndpoints: usesLocal ? plain(usable(entries.filter(({ isLocal }) => isLocal))) : none,
    hasEndpoints: entries.some((entry) => isReady(entry) || isFallback(entry)),
  };
}

const isReady = ({ facts }: EndpointEntry): boolean => facts.isReady;

/** Serving while terminating: used only if none is ready. */
const isFallback = ({ facts }: EndpointEntry): boolean => facts.isServing && facts.isTerminating;

/** Ready ones; without any, those that still serve while they terminate (KPX-10). */
function usable(entries: readonly EndpointEntry[]): readonly EndpointEntry[] {
  const ready = entries.filter(isReady);
  return ready.length > 0 ? ready : entries.filter(isFallback);
}

/** KPX-11: hints apply to this set only, and only to ready endpoints. */
function clusterEntries(
  entries: readonly EndpointEntry[],
  location: NodeLocation,
): readonly EndpointEntry[] {
  const candidates = usable(entries);
  return candidates[0]?.facts.isReady === true ? near(candidates, location) : candidates;
}

/** KPX-12, KPX-13: hints apply if all endpoints have one and one of them names this node or zone. */
function near(
  ready: readonly EndpointEntry[],
  { nodeName, zone }: NodeLocation,
): readonly EndpointEntry[] {
  if (ready.every(({ facts }) => facts.nodeHints.length > 0)) {
    const sameNode = ready.filter(({ facts }) => facts.nodeHints.includes(nodeName));
    if (sameNode.length > 0) return sameNode;
  }
  if (zone !== '' && ready.every(({ facts }) => facts.zoneHints.length > 0)) {
    const sameZone = ready.filter(({ facts }) => facts.zoneHints.includes(zone));
    if (sameZone.length > 0) return sameZone;
  }
  return ready;
}

function plain(entries: readonly EndpointEntry[]): readonly Endpoint[] {
  return entries.length === 0
    ? none
    : entries.map(({ ip, port, isLocal }) => ({ ip, port, isLocal }));
}

/** KPX-36, KPX-38: what a health check counts: distinct local addresses that are ready, on any port. */
export function countLocalReady(lists: Iterable<readonly EndpointEntry[]>): number {
  const addresses = new Set<string>();
  for (const entries of lists) {
    for (const { ip, isLocal, facts } of entries) if (isLocal && facts.isReady) addresses.add(ip);
  }
  return addresses.size;
}

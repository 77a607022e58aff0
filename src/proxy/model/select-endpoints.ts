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

const none: readonly never[] = [];

/** Why traffic may use these endpoints and no others. Without `same-`, all that are usable: the reason is why hints do not narrow them. */
export type ChoiceReason =
  | 'none-usable'
  /** None is ready; these terminate, and still serve. Hints do not apply. */
  | 'terminating'
  | 'same-node'
  | 'same-zone'
  | 'not-all-hinted'
  | 'zone-unknown'
  /** All have hints, and none of them names this node or its zone. */
  | 'hinted-elsewhere'
  /** Policy Local: those of this node. */
  | 'on-node';

export type EndpointChoice = {
  readonly entries: readonly EndpointEntry[];
  readonly why: ChoiceReason;
};

/** What traffic under each policy may use; absent where no traffic meets the policy. */
export type Selection = {
  readonly cluster?: EndpointChoice;
  readonly local?: EndpointChoice;
  readonly hasEndpoints: boolean;
};

export function selectEndpoints(
  entries: readonly EndpointEntry[],
  port: PortRequest,
  location: NodeLocation,
): SelectedEndpoints {
  const { cluster, local, hasEndpoints } = explainSelection(entries, port, location);
  return {
    clusterEndpoints: plain(cluster?.entries),
    localEndpoints: plain(local?.entries),
    hasEndpoints,
  };
}

export function explainSelection(
  entries: readonly EndpointEntry[],
  port: Pick<
    PortRequest,
    'internalPolicy' | 'externalPolicy' | 'nodePort' | 'externalIPs' | 'loadBalancerIPs'
  >,
  location: NodeLocation,
): Selection {
  const usesLocal = port.internalPolicy === 'Local' || port.externalPolicy === 'Local';
  // Policy Local outside needs the others as well, for traffic that starts here (KPX-17).
  const usesCluster = port.internalPolicy === 'Cluster' || isExternallyReachable(port);
  return {
    ...(usesCluster ? { cluster: chooseInCluster(entries, location) } : {}),
    ...(usesLocal ? { local: chooseOnNode(entries) } : {}),
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

function chooseOnNode(entries: readonly EndpointEntry[]): EndpointChoice {
  const found = usable(entries.filter(({ isLocal }) => isLocal));
  return { entries: found, why: unhintedReason(found) ?? 'on-node' };
}

/** KPX-11: hints apply to this set only, and only to ready endpoints. */
function chooseInCluster(
  entries: readonly EndpointEntry[],
  location: NodeLocation,
): EndpointChoice {
  const candidates = usable(entries);
  const why = unhintedReason(candidates);
  return why === undefined ? near(candidates, location) : { entries: candidates, why };
}

function unhintedReason(
  candidates: readonly EndpointEntry[],
): 'none-usable' | 'terminating' | undefined {
  const [first] = candidates;
  if (first === undefined) return 'none-usable';
  return first.facts.isReady ? undefined : 'terminating';
}

/** KPX-12, KPX-13: hints apply if all endpoints have one and one of them names this node or zone. */
function near(ready: readonly EndpointEntry[], { nodeName, zone }: NodeLocation): EndpointChoice {
  const haveNodes = ready.every(({ facts }) => facts.nodeHints.length > 0);
  if (haveNodes) {
    const sameNode = ready.filter(({ facts }) => facts.nodeHints.includes(nodeName));
    if (sameNode.length > 0) return { entries: sameNode, why: 'same-node' };
  }
  const haveZones = ready.every(({ facts }) => facts.zoneHints.length > 0);
  if (!haveZones) return { entries: ready, why: haveNodes ? 'hinted-elsewhere' : 'not-all-hinted' };
  if (zone === '') return { entries: ready, why: 'zone-unknown' };
  const sameZone = ready.filter(({ facts }) => facts.zoneHints.includes(zone));
  return sameZone.length > 0
    ? { entries: sameZone, why: 'same-zone' }
    : { entries: ready, why: 'hinted-elsewhere' };
}

function plain(entries: readonly EndpointEntry[] = none): readonly Endpoint[] {
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

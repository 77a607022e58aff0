// UDP connections have no end: conntrack keeps sending a flow to its first endpoint, even after that is gone. Finds the flows to
// delete, so that their next packet is sent by the current rules (KPX-44).
import type { NodeState, ServicePort } from '../model/state.ts';

/** A conntrack entry, as far as it is used here. */
export type TrackedFlow = {
  /** Its destination before translation. */
  readonly original: { readonly destination: string; readonly destinationPort: number };
  /** The source of replies: the endpoint, or the destination itself if it was not translated. */
  readonly reply: { readonly source: string; readonly sourcePort: number };
};

/** A UDP service port that changed, and the endpoints that serve it now. */
export type FlowChange = {
  readonly before?: ServicePort;
  readonly after?: ServicePort;
  /** As `ip port`, including endpoints that get no new flows. */
  readonly servingEndpoints: ReadonlySet<string>;
};

export type StaleFlows = {
  /** Nothing can be stale, so that flows need not be listed. */
  readonly isEmpty: boolean;
  readonly isStale: (flow: TrackedFlow) => boolean;
};

export function findStaleFlows(
  changes: readonly FlowChange[],
  node: Pick<NodeState, 'nodeIPs'>,
): StaleFlows {
  const endpointsByEntrance = new Map<string, ReadonlySet<string> | 'none'>();
  for (const { before } of changes) {
    for (const entrance of entrances(before, node)) endpointsByEntrance.set(entrance, 'none');
  }
  // An address may have moved from one Service to another.
  for (const { after, servingEndpoints } of changes) {
    for (const entrance of entrances(after, node))
      endpointsByEntrance.set(entrance, servingEndpoints);
  }
  return {
    isEmpty: endpointsByEntrance.size === 0,
    isStale: (flow) => isStale(flow, endpointsByEntrance),
  };
}

function isStale(
  { original, reply }: TrackedFlow,
  endpointsByEntrance: ReadonlyMap<string, ReadonlySet<string> | 'none'>,
): boolean {
  const entrance = `${original.destination} ${original.destinationPort}`;
  const replier = `${reply.source} ${reply.sourcePort}`;
  const isTranslated = replier !== entrance;
  // A translated flow came to this node, so that it may be of a node port, on an address that the node does not list.
  const serving =
    endpointsByEntrance.get(entrance) ??
    (isTranslated ? endpointsByEntrance.get(`${anyLocal} ${original.destinationPort}`) : undefined);
  if (serving === undefined) return false;
  // Without a Service, only translated flows were made by our rules.
  return serving === 'none' ? isTranslated : !serving.has(replier);
}

/** Any address of the node. */
const anyLocal = '*';

function entrances(
  port: ServicePort | undefined,
  { nodeIPs }: Pick<NodeState, 'nodeIPs'>,
): readonly string[] {
  if (port === undefined || port.protocol !== 'UDP') return [];
  const { clusterIP, externalIPs, loadBalancerIPs, nodePort } = port;
  const own = [...(clusterIP === undefined ? [] : [clusterIP]), ...externalIPs, ...loadBalancerIPs];
  return [
    ...own.map((ip) => `${ip} ${port.port}`),
    ...(nodePort === undefined ? [] : [anyLocal, ...nodeIPs].map((ip) => `${ip} ${nodePort}`)),
  ];
}

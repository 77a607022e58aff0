// UDP has no end of a connection: the kernel keeps sending a flow where it once went, even when nobody is there any
// more. Which flows have to be forgotten so that their next packet is decided anew (KPX-44).
import type { NodeState, ServicePort } from '../model/state.ts';

/** One flow as the kernel tracks it, as far as it matters here. */
export type TrackedFlow = {
  /** Where the client sent it. */
  readonly original: { readonly destination: string; readonly destinationPort: number };
  /** Who answers: the endpoint, or the destination itself when nothing was translated. */
  readonly reply: { readonly source: string; readonly sourcePort: number };
};

/** A UDP service port that changed: what it was, what it is, and who serves it now. */
export type FlowChange = {
  readonly before?: ServicePort;
  readonly after?: ServicePort;
  /** As `ip port`; also endpoints that get no new flows but still serve old ones. */
  readonly serving: ReadonlySet<string>;
};

export type StaleFlows = {
  /** Whether there is anything to look for: listing flows is not free. */
  readonly isEmpty: boolean;
  readonly isStale: (flow: TrackedFlow) => boolean;
};

export function findStaleFlows(
  changes: readonly FlowChange[],
  node: Pick<NodeState, 'nodeIPs'>,
): StaleFlows {
  const served = new Map<string, ReadonlySet<string> | 'nobody'>();
  for (const { before } of changes) {
    for (const entrance of entrances(before, node)) served.set(entrance, 'nobody');
  }
  // An address that went from one Service to another is now served by the other.
  for (const { after, serving } of changes) {
    for (const entrance of entrances(after, node)) served.set(entrance, serving);
  }
  return { isEmpty: served.size === 0, isStale: (flow) => isStale(flow, served) };
}

function isStale(
  { original, reply }: TrackedFlow,
  served: ReadonlyMap<string, ReadonlySet<string> | 'nobody'>,
): boolean {
  const entrance = `${original.destination} ${original.destinationPort}`;
  const replier = `${reply.source} ${reply.sourcePort}`;
  const isTranslated = replier !== entrance;
  // What was translated here came to this node, whatever its addresses are: a node port may answer on more than it is known by.
  const serving =
    served.get(entrance) ??
    (isTranslated ? served.get(`${anyLocal} ${original.destinationPort}`) : undefined);
  if (serving === undefined) return false;
  // Nobody's address: what was never translated is no business of ours.
  return serving === 'nobody' ? isTranslated : !serving.has(replier);
}

/** Stands for every address of the node. */
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

// The endpoints of a service port: which a connection may get, with what chance, and whom each sees as the sender.
import { addressOfFamily } from '../ip/family-address.ts';
import type { Endpoint as SliceEndpoint } from '../kinds/endpoint-slice/types.ts';
import { zoneLabel } from '../meta/well-known-labels.ts';
import type { EndpointEntry } from '../proxy/model/endpoints.ts';
import type { EndpointChoice } from '../proxy/model/select-endpoints.ts';
import type { ModeTraits } from '../proxy/modes/mode.ts';
import type { Destination } from '../proxy/packets/packet.ts';
import {
  type MasqueradeReason,
  masqueradeReason,
  type Route,
  type Target,
} from '../proxy/packets/reference-model.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { JudgedConnection } from './judge-connection.ts';
import type { Source } from './resolve-source.ts';
import type { EndpointHop, Sender } from './trace.ts';

export type HopOptions = { readonly source: Source; readonly traits: ModeTraits };

/** Empty where the packet is for no service port. */
export function endpointHops(
  index: SnapshotIndex,
  judged: JudgedConnection,
  options: HopOptions,
): readonly EndpointHop[] {
  const { judgement, rules } = judged;
  const { target, verdict } = judgement;
  if (target === undefined) return [];
  const used = verdict.kind === 'translate' ? verdict.destinations : [];
  const byAddress = new Map(used.map((one) => [addressKey(one), one]));
  const lost = new Set(verdict.kind === 'translate' ? [] : choiceOf(judged)?.entries);
  const objects = endpointObjects(index, target, judged.packet.family);
  return rules.entriesOf(target.port).map((entry) => {
    const destination = byAddress.get(addressKey(entry));
    const object = objects.get(entry.ip);
    const { facts } = entry;
    return {
      address: entry.ip,
      port: entry.port,
      ...podOf(object, target),
      ...locationOf(index, entry, object),
      ready: facts.isReady,
      serving: facts.isServing,
      terminating: facts.isTerminating,
      hints: { nodeHints: facts.nodeHints, zoneHints: facts.zoneHints },
      chance: destination === undefined ? 0 : 1 / used.length,
      ...(destination === undefined
        ? {
            unused: lost.has(entry)
              ? 'the connection does not get there'
              : unusedReason(entry, judged),
          }
        : { sender: senderOf(index, destination, { ...options, judged, entry }) }),
    };
  });
}

const addressKey = ({ ip, port }: Pick<EndpointEntry, 'ip' | 'port'>): string => `${ip} ${port}`;

/** What the traffic of this connection chooses from. */
export function choiceOf({ judgement, rules }: JudgedConnection): EndpointChoice | undefined {
  const { target, route } = judgement;
  if (target === undefined) return undefined;
  const { cluster, local } = rules.selectionOf(target.port);
  return route?.set === 'local' ? local : (cluster ?? local);
}

function unusedReason({ facts, isLocal }: EndpointEntry, judged: JudgedConnection): string {
  const { isReady, isServing, isTerminating } = facts;
  if (!isReady && !isTerminating) return 'not ready';
  if (!isReady && !isServing) return 'terminating, and no longer serving';
  if (judged.judgement.route?.set === 'local' && !isLocal) {
    return `not on node ${judged.node}, where policy Local keeps the connection`;
  }
  if (!isReady) return 'terminating, while others are ready';
  const choice = choiceOf(judged);
  if (choice?.why === 'same-node') return `hinted for node ${facts.nodeHints.join(', ')}`;
  if (choice?.why === 'same-zone') return `hinted for zone ${facts.zoneHints.join(', ')}`;
  return 'not chosen';
}

function endpointObjects(
  index: SnapshotIndex,
  { port: { namespace, name } }: Target,
  family: 'IPv4' | 'IPv6',
): ReadonlyMap<string, SliceEndpoint> {
  const found = new Map<string, SliceEndpoint>();
  for (const { endpoints } of index.slicesOf(namespace, name)) {
    for (const endpoint of endpoints ?? []) {
      const ip = addressOfFamily(endpoint.addresses?.[0] ?? '', family);
      // One that names its pod says more.
      if (ip !== undefined && (!found.has(ip) || endpoint.targetRef !== undefined)) {
        found.set(ip, endpoint);
      }
    }
  }
  return found;
}

function podOf(
  object: SliceEndpoint | undefined,
  { port }: Target,
): Pick<EndpointHop, 'pod'> | undefined {
  const { kind, name, namespace = port.namespace } = object?.targetRef ?? {};
  return kind === 'Pod' && name ? { pod: `${namespace || port.namespace}/${name}` } : undefined;
}

function locationOf(
  index: SnapshotIndex,
  { facts }: EndpointEntry,
  object: SliceEndpoint | undefined,
): Pick<EndpointHop, 'node' | 'zone'> {
  const node = facts.nodeName;
  const zone = object?.zone ?? index.node(node)?.metadata.labels?.[zoneLabel] ?? '';
  return { ...(node === '' ? {} : { node }), ...(zone === '' ? {} : { zone }) };
}

type SenderParts = HopOptions & {
  readonly judged: JudgedConnection;
  readonly entry: EndpointEntry;
};

const reasons: Readonly<Record<MasqueradeReason, string>> = {
  relayed: 'the proxy carries the connection itself',
  hairpin: 'the pod would otherwise see its own address',
  all: 'the proxy is configured to do so always',
  'not-from-pod': 'the client is no pod, and the answer must come back through this node',
  external: 'external policy Cluster: the answer must come back through this node',
  'from-node': 'the connection starts on the node',
};

function senderOf(
  index: SnapshotIndex,
  { ip, isMasqueraded }: Destination,
  { source, traits, judged, entry }: SenderParts,
): Sender {
  const { packet, judgement, rules } = judged;
  const route: Pick<Route, 'masquerade'> = judgement.route ?? {};
  const masquerade = masqueradeReason(route, ip, packet, traits);
  if (!isMasqueraded || masquerade === undefined) {
    const isKnown = source.addresses.includes(packet.source);
    return {
      kind: 'client',
      ...(isKnown ? { address: packet.source } : {}),
      sentence: isKnown
        ? packet.source
        : `the address of the ${source.kind === 'outside' ? 'client' : source.kind}`,
    };
  }
  const why = reasons[masquerade];
  const isKnownNode = index.node(judged.node) !== undefined && judged.nodes.length === 1;
  const [primary] = rules.state.node.nodeIPs;
  // Towards its own pods a node uses the address of their network.
  if (entry.isLocal || !isKnownNode || primary === undefined) {
    return {
      ...{ kind: 'node', masquerade },
      sentence: `${isKnownNode ? `the address of node ${judged.node}` : "the node's address"} towards it: ${why}`,
    };
  }
  return {
    ...{ kind: 'node', address: primary, masquerade },
    sentence: `${primary}, of node ${judged.node}: ${why}`,
  };
}

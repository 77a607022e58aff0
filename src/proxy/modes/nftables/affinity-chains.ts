// Chooses an endpoint for a service port with session affinity. Its chain checks for each endpoint whether the client has a record of it;
// without one it draws, and adds a record. Records of removed endpoints are not read (KPX-25).
import type { Field, Statement } from '../../../host/nftables/objects.ts';
import type { Endpoint, NodeState, ServicePort } from '../../model/state.ts';
import { markForeigners, setMark, shortCircuit } from './choice-chains.ts';
import { affinity } from './layout.ts';
import { affinityNumber, portChainName } from './names.ts';
import { type ChainRules, goBack, goTo, isIn } from './rules.ts';

export type AffinityChains = {
  readonly chains: readonly ChainRules[];
  /** Where packets to the cluster IP go, if there is an endpoint for them. */
  readonly internal?: string;
  /** Where packets to outside addresses and to the node port go, if there is an endpoint for any of them. */
  readonly external?: string;
};

export type StickyPort = ServicePort & { readonly affinitySeconds: number };

/** As few rules as can be: the choice stands in a chain of its own only where two others lead to it. */
export function affinityChains(port: StickyPort, node: NodeState): AffinityChains {
  const hasOutside =
    port.nodePort !== undefined || port.externalIPs.length > 0 || port.loadBalancerIPs.length > 0;
  const all: ChainRules | undefined =
    hasOutside && port.clusterEndpoints.length > 0
      ? {
          chain: { name: portChainName('service', port) },
          rules: stickOrDraw(port, port.clusterEndpoints),
        }
      : undefined;
  const internal = internalChain(port, node, all);
  const external = hasOutside ? externalChain(port, node, all) : undefined;
  return {
    chains: [all, internal, external].filter((chain) => chain !== undefined),
    ...(internal === undefined ? {} : { internal: internal.chain.name }),
    ...(external === undefined ? {} : { external: external.chain.name }),
  };
}

function internalChain(
  port: StickyPort,
  node: NodeState,
  all: ChainRules | undefined,
): ChainRules | undefined {
  const isLocal = port.internalPolicy === 'Local';
  const endpoints = isLocal ? port.localEndpoints : port.clusterEndpoints;
  if (endpoints.length === 0) return undefined;
  const choice =
    all === undefined || isLocal ? stickOrDraw(port, endpoints) : [[goTo(all.chain.name)]];
  return {
    chain: { name: portChainName('internal', port) },
    rules: [...markForeigners(node), ...choice],
  };
}

function externalChain(
  port: StickyPort,
  node: NodeState,
  all: ChainRules | undefined,
): ChainRules | undefined {
  const { externalPolicy, localEndpoints } = port;
  const chain = { name: portChainName('external', port) };
  const toAll = all === undefined ? goBack : goTo(all.chain.name);
  if (externalPolicy === 'Cluster') {
    return all === undefined ? undefined : { chain, rules: [[setMark(node)], [toAll]] };
  }
  if (all === undefined && localEndpoints.length === 0) return undefined;
  return { chain, rules: [...shortCircuit(node, toAll), ...stickOrDraw(port, localEndpoints)] };
}

function stickOrDraw(port: StickyPort, endpoints: readonly Endpoint[]): ChainRules['rules'] {
  const transport: Statement = {
    kind: 'match-protocol',
    protocol: transportOf[port.protocol],
  };
  const recordOf = (endpoint: Endpoint): readonly Field[] => [
    'source',
    { fixed: affinityNumber(port, endpoint) },
  ];
  const remember = (endpoint: Endpoint): Statement => ({
    kind: 'remember',
    fields: recordOf(endpoint),
    set: affinity.name,
    timeoutSeconds: port.affinitySeconds,
  });
  const send = ({ ip, port: number }: Endpoint): readonly Statement[] => [
    transport,
    { kind: 'translate', address: ip, port: number },
  ];
  // The first gets one connection in n, the second one in n-1 of the rest, the last what is left.
  const drawn = (index: number): readonly Statement[] => {
    const count = endpoints.length - index;
    return count === 1 ? [] : [{ kind: 'match-one-in', count }];
  };
  return [
    ...endpoints.map((one) => [isIn(affinity, recordOf(one)), remember(one), ...send(one)]),
    ...endpoints.map((one, index) => [...drawn(index), remember(one), ...send(one)]),
    // Where there is no room for another record, the rules above end at it: the client is sent all the same.
    ...endpoints.map((one, index) => [...drawn(index), ...send(one)]),
  ];
}

const transportOf = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

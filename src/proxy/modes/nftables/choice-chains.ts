// Choosing an endpoint for service ports without affinity. All ports that have the same number of endpoints under the same rules share
// one chain: it draws a number below theirs, and the map of endpoints says who has that number for the address at hand.

import type { Field, NftSet, Statement } from '../../../host/nftables/objects.ts';
import type { NodeState } from '../../model/state.ts';
import { isFromPods } from '../../packets/from-pods.ts';
import {
  endpointsOfIPs,
  endpointsOfNodePorts,
  ipFields,
  localEndpointsOfIPs,
  localEndpointsOfNodePorts,
  nodePortFields,
  noEndpointNodePorts,
  noEndpointServices,
  serviceIPs,
  serviceNodePorts,
} from './layout.ts';
import { type ChainRules, goBack, goTo, isFromThisNode, translateToOneOf } from './rules.ts';

/** How a packet names a service port, and the maps that know it by that. */
export type Entrance = {
  readonly prefix: '' | 'nodeport-';
  readonly fields: readonly Field[];
  readonly services: NftSet;
  readonly endpoints: NftSet;
  readonly localEndpoints: NftSet;
  readonly noEndpoints: NftSet;
};

export const byIP: Entrance = {
  prefix: '',
  fields: ipFields,
  services: serviceIPs,
  endpoints: endpointsOfIPs,
  localEndpoints: localEndpointsOfIPs,
  noEndpoints: noEndpointServices,
};

export const byNodePort: Entrance = {
  prefix: 'nodeport-',
  fields: nodePortFields,
  services: serviceNodePorts,
  endpoints: endpointsOfNodePorts,
  localEndpoints: localEndpointsOfNodePorts,
  noEndpoints: noEndpointNodePorts,
};

/** The first is where to go; the others are those it leads to. */
export type ChainPath = readonly [ChainRules, ...ChainRules[]];

/** To a cluster IP (KPX-19, KPX-20). */
export function internalPath(node: NodeState, count: number): ChainPath {
  const choice = chooseChain(byIP, count);
  const rules = [...markForeigners(node), [goTo(choice.chain.name)]];
  return [{ chain: { name: `internal-${count}` }, rules }, choice];
}

/** To an address outside or a node port, under policy Cluster (KPX-18). */
export function externalPath(node: NodeState, entrance: Entrance, count: number): ChainPath {
  const choice = chooseChain(entrance, count);
  const rules = [[setMark(node)], [goTo(choice.chain.name)]];
  return [{ chain: { name: `${entrance.prefix}external-${count}` }, rules }, choice];
}

export type ExternalLocalCounts = { readonly cluster: number; readonly local: number };

/** Under policy Local: what starts on this node may use all endpoints, the rest those on this node (KPX-15, KPX-17). */
export function externalLocalPath(
  node: NodeState,
  entrance: Entrance,
  { cluster, local }: ExternalLocalCounts,
): ChainPath {
  const choice = cluster === 0 ? undefined : chooseChain(entrance, cluster);
  const rules = [
    ...shortCircuit(node, choice === undefined ? goBack : goTo(choice.chain.name)),
    ...(local === 0 ? [] : drawEndpoint(entrance.localEndpoints, entrance.fields, local)),
  ];
  const chain = { name: `${entrance.prefix}external-${cluster}-local-${local}` };
  return [{ chain, rules }, ...(choice === undefined ? [] : [choice])];
}

/** Marks what comes to a cluster IP from outside the cluster, or everything. */
export function markForeigners(node: NodeState): ChainRules['rules'] {
  if (node.masqueradeAll) return [[setMark(node)]];
  const isForeign = isFromPods(node.localTraffic, true);
  return isForeign.length === 0 ? [] : [[...isForeign, setMark(node)]];
}

export function shortCircuit(node: NodeState, toAllEndpoints: Statement): ChainRules['rules'] {
  const isPod = isFromPods(node.localTraffic);
  return [
    ...(isPod.length === 0 ? [] : [[...isPod, toAllEndpoints]]),
    [isFromThisNode, setMark(node)],
    [isFromThisNode, toAllEndpoints],
  ];
}

export function setMark({ masqueradeMark }: NodeState): Statement {
  return { kind: 'set-mark', bit: masqueradeMark };
}

function chooseChain({ prefix, fields, endpoints }: Entrance, count: number): ChainRules {
  return {
    chain: { name: `${prefix}choose-${count}` },
    rules: drawEndpoint(endpoints, fields, count),
  };
}

/**
 * A packet may find the old number of endpoints and then, because a transaction came between, the new endpoints: the number that
 * it drew may be gone. Number 0 is there as long as there is any, so it is asked for second.
 */
function drawEndpoint(
  endpoints: NftSet,
  fields: readonly Field[],
  count: number,
): ChainRules['rules'] {
  const draw = [translateToOneOf(endpoints, fields, count)];
  return count === 1 ? [draw] : [draw, [translateToOneOf(endpoints, fields, 1)]];
}

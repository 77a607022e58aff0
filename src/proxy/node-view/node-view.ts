// What the rules of a family depend on besides Services: configuration, Node object and machine.

import { rangesOfFamily } from '../../ip/family-address.ts';
import type { Node } from '../../kinds/node/types.ts';
import { makeOwners } from '../../kinds/service/address-owners.ts';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import { zoneLabel } from '../../meta/well-known-labels.ts';
import type { ProxyConfig } from '../config.ts';
import type { Family } from '../model/state.ts';
import type { NodeView } from '../model/track-state.ts';
import { localTraffic } from './local-traffic.ts';
import { nodeAddresses, nodePortAddresses } from './node-addresses.ts';
import type { NodeObject } from './node-object.ts';

export type NodeFacts = {
  readonly family: Family;
  readonly nodeName: string;
  readonly node: NodeObject | undefined;
  /** All known nodes, including this one. */
  readonly nodes: Iterable<Node>;
  readonly serviceRanges: readonly ServiceCIDR[];
  readonly interfaceAddresses: readonly string[];
  /** Addresses of the machine's interfaces, except those of modes. */
  readonly ownAddresses: readonly string[];
  readonly whenNodePortsUnset: 'all' | 'primary';
};

export function makeNodeView(config: ProxyConfig, facts: NodeFacts): NodeView {
  const { family, node, interfaceAddresses } = facts;
  const nodeIPs = nodeAddresses({
    family,
    bindAddress: config.bindAddress,
    interfaceAddresses,
    ...(node === undefined ? {} : { node }),
  });
  const ranges = facts.serviceRanges.flatMap(({ spec }) => spec?.cidrs ?? []);
  const serviceCIDRs = [...rangesOfFamily(ranges, family)].sort();
  return {
    owners: makeOwners({
      ...{ family, interfaceAddresses: facts.ownAddresses, serviceRanges: serviceCIDRs },
      nodeName: facts.nodeName,
      nodes: facts.nodes,
      clusterCIDRs: config.local.clusterCIDRs,
    }),
    zone: node?.metadata.labels?.[zoneLabel] ?? '',
    node: {
      family,
      nodeName: facts.nodeName,
      nodeIPs,
      nodePortAddresses: nodePortAddresses(config.nodePortAddresses, {
        family,
        nodeIPs,
        interfaceAddresses,
        whenUnset: facts.whenNodePortsUnset,
      }),
      localTraffic: localTraffic(config.local, family, node),
      masqueradeAll: config.masqueradeAll,
      // Bit 31 would make the number negative without the shift.
      masqueradeMark: (1 << config.masqueradeBit) >>> 0,
      serviceCIDRs,
    },
  };
}

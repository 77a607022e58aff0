// How this node distinguishes traffic of its pods from other traffic (KPX-22).

import { rangesOfFamily } from '../../ip/family-address.ts';
import type { Family, LocalTraffic } from '../model/state.ts';
import type { NodeObject } from './node-object.ts';

export const localModes = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
] as const;
export type LocalMode = (typeof localModes)[number];

export type LocalDetection = {
  readonly mode: LocalMode;
  /** Ranges of all pods of the cluster. */
  readonly clusterCIDRs: readonly string[];
  readonly bridgeInterface: string;
  readonly interfaceNamePrefix: string;
};

export function localTraffic(
  detection: LocalDetection,
  family: Family,
  node: NodeObject | undefined,
): LocalTraffic {
  switch (detection.mode) {
    case 'ClusterCIDR':
      return byRange(detection.clusterCIDRs, family);
    case 'NodeCIDR':
      return byRange(podRanges(node), family);
    case 'BridgeInterface':
      return { kind: 'interface', name: detection.bridgeInterface };
    case 'InterfaceNamePrefix':
      return { kind: 'interface-prefix', prefix: detection.interfaceNamePrefix };
  }
}

function byRange(ranges: readonly string[], family: Family): LocalTraffic {
  const [cidr] = rangesOfFamily(ranges, family);
  return cidr === undefined ? { kind: 'unknown' } : { kind: 'cidr', cidr };
}

function podRanges(node: NodeObject | undefined): readonly string[] {
  const { podCIDR, podCIDRs } = node?.spec ?? {};
  return podCIDRs ?? (podCIDR === undefined ? [] : [podCIDR]);
}

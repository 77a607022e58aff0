// What every rule of a family depends on besides its own service port, and how the rules are laid out.
import { formatAddress, parseAddress } from '../../../ip/address.ts';
import { formatCidr, parseCidr } from '../../../ip/cidr.ts';
import type { Family, NodeState, ProxyState } from '../../model/state.ts';

/** What flags and this machine's abilities say. */
export type Settings = {
  /** Node ports answer on 127.0.0.1 (IPT-09). */
  readonly answersOnLoopback: boolean;
  /** Packets that belong to no connection are dropped on their way through (IPT-07). */
  readonly dropsInvalid: boolean;
  /** The kernel can compare both ends of a packet (xt_bpf), which the inline layout needs. */
  readonly canCompareEnds: boolean;
};

export const defaultSettings: Settings = {
  answersOnLoopback: true,
  dropsInvalid: true,
  canCompareEnds: true,
};

export type Layout = {
  readonly hasComments: boolean;
  /** `flat`: upstream's one list of all services. `buckets`: a list of lists, each short. */
  readonly dispatch: 'flat' | 'buckets';
  /** `chains`: upstream's chain for each endpoint. `inline`: one rule for each, in the service's chain. */
  readonly endpoints: 'chains' | 'inline';
};

export type RuleContext = {
  readonly node: NodeState;
  readonly settings: Settings;
  readonly layout: Layout;
};

/**
 * Above this many endpoints or service ports a node is laid out for size; upstream draws the same line for leaving out
 * comments (KPX-42). Below it the rules look like upstream's, which people know.
 */
export const largeClusterCount = 1000;

export function contextOf(state: ProxyState, settings: Settings): RuleContext {
  const isLarge = state.ports.size > largeClusterCount || hasManyEndpoints(state);
  return {
    node: state.node,
    settings,
    layout: {
      hasComments: !isLarge,
      dispatch: isLarge ? 'buckets' : 'flat',
      endpoints: isLarge && settings.canCompareEnds ? 'inline' : 'chains',
    },
  };
}

function hasManyEndpoints({ ports }: ProxyState): boolean {
  let count = 0;
  for (const { clusterEndpoints } of ports.values()) count += clusterEndpoints.length;
  return count > largeClusterCount;
}

export function isSameLayout(before: Layout, after: Layout): boolean {
  return before.dispatch === after.dispatch && before.endpoints === after.endpoints;
}

/** One address as iptables-save writes it. */
export function hostRange(ip: string): string {
  const address = ip.includes(':') ? parseAddress(ip) : undefined;
  return address === undefined ? `${ip}/32` : `${formatAddress(address)}/128`;
}

/** A range as iptables-save writes it: without bits beyond the prefix. */
export function canonicalRange(range: string): string {
  const cidr = parseCidr(range);
  return cidr === undefined ? range : formatCidr(cidr);
}

export const loopbackRange: Readonly<Record<Family, string>> = {
  IPv4: '127.0.0.0/8',
  IPv6: '::1/128',
};

// Reports when the rules written by the proxy no longer lead to a pod.
import type { Family, ProxyState } from '../proxy/model/state.ts';

export type RuleWatch = {
  /** The state that was written to the kernel, for one IP family. */
  readonly applied: (state: ProxyState) => void;
  /** Reports once, as soon as no rule leads to any of the addresses; immediately if none does. */
  readonly watch: (id: number, ips: readonly string[]) => void;
  readonly unwatch: (id: number) => void;
};

export function createRuleWatch(unrouted: (id: number) => void): RuleWatch {
  // Copied: the state changes again before the kernel has the next one.
  const routedIPs = new Map<Family, ReadonlySet<string>>();
  const watched = new Map<number, readonly string[]>();
  const check = (id: number, ips: readonly string[]): void => {
    if (ips.some((ip) => [...routedIPs.values()].some((set) => set.has(ip)))) return;
    watched.delete(id);
    unrouted(id);
  };
  return {
    applied(state) {
      routedIPs.set(state.node.family, endpointIPs(state));
      for (const [id, ips] of [...watched]) check(id, ips);
    },
    watch(id, ips) {
      watched.set(id, ips);
      check(id, ips);
    },
    unwatch: (id) => void watched.delete(id),
  };
}

function endpointIPs({ ports }: ProxyState): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { clusterEndpoints, localEndpoints } of ports.values()) {
    for (const { ip } of clusterEndpoints) found.add(ip);
    for (const { ip } of localEndpoints) found.add(ip);
  }
  return found;
}

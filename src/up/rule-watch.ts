// Tells when the rules that a proxy has written lead to a pod no longer.
import type { Family, ProxyState } from '../proxy/model/state.ts';

export type RuleWatch = {
  /** What the kernel has, of one family. */
  readonly applied: (state: ProxyState) => void;
  /** Calls back once, as soon as no rule leads to any of the addresses; at once where none does. */
  readonly watch: (id: number, ips: readonly string[]) => void;
  readonly unwatch: (id: number) => void;
};

export function createRuleWatch(letGo: (id: number) => void): RuleWatch {
  // Copied: the state goes on changing, before the kernel has it.
  const used = new Map<Family, ReadonlySet<string>>();
  const watched = new Map<number, readonly string[]>();
  const look = (id: number, ips: readonly string[]): void => {
    if (ips.some((ip) => [...used.values()].some((set) => set.has(ip)))) return;
    watched.delete(id);
    letGo(id);
  };
  return {
    applied(state) {
      used.set(state.node.family, endpointIPs(state));
      for (const [id, ips] of [...watched]) look(id, ips);
    },
    watch(id, ips) {
      watched.set(id, ips);
      look(id, ips);
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

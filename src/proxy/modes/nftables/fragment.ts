// What one service port, or the node itself, wants in the table.
import type { Element, NftSet } from '../../../host/nftables/objects.ts';
import { clusterIPs, hairpinConnections } from './layout.ts';
import type { ChainRules } from './rules.ts';

export type Entry = { readonly set: NftSet; readonly element: Element };

/** Chains of the same name are the same chain: several fragments may want it, and it stands as long as one of them does. */
export type Fragment = {
  readonly entries: readonly Entry[];
  readonly chains: readonly ChainRules[];
};

/** Whether several fragments may want the same element of the set; in all others each has its own. */
export function isSharedSet({ name }: NftSet): boolean {
  return name === clusterIPs.name || name === hairpinConnections.name;
}

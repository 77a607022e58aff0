// A rule that a traced packet matches, for those who show the way of a packet.
import type { Element, Statement } from '../../host/nftables/objects.ts';

export type MetRule =
  /** Of nf_tables: with the elements that were found in its sets and maps. */
  | {
      readonly kind: 'statements';
      readonly chain: string;
      readonly statements: readonly Statement[];
      readonly elements: readonly { readonly set: string; readonly element: Element }[];
    }
  /** In the words of the program that writes it. */
  | { readonly kind: 'text'; readonly text: string };

/** Called in the order of the rules; again for each way that chance could take. */
export type RuleListener = (rule: MetRule) => void;

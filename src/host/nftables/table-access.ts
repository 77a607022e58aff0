// What Fairlead needs of nf_tables, however it is reached: over netlink, or through the nft program.
import type { Element, NftSet, Table, Transaction } from './objects.ts';

export type TablePlace = {
  /** The network namespace whose rules are meant; absent: this process' own. */
  readonly namespacePath?: string;
};

export type TableNames = {
  /** How many rules each chain has. */
  readonly chains: ReadonlyMap<string, number>;
  readonly sets: ReadonlySet<string>;
};

export type TableAccess = {
  readonly way: 'netlink' | 'nft';
  /** All or nothing; returns the size of what was sent. */
  readonly apply: (transaction: Transaction) => Promise<number>;
  /** Whether the error means that the transaction would be taken if it made the table anew. */
  readonly wantsNewTable: (error: unknown) => boolean;
  /** Undefined when there is no such table. */
  readonly readNames: (table: Table) => Promise<TableNames | undefined>;
  readonly readElements: (table: Table, set: NftSet) => Promise<readonly Element[]>;
  readonly close: () => Promise<void>;
};

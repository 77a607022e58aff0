// The part of nf_tables that Fairlead needs, over netlink or through the nft program.
import type { Element, NftSet, Table, Transaction } from './objects.ts';

export type TableLocation = {
  /** The network namespace of the table; absent: that of this process. */
  readonly namespacePath?: string;
};

export type TableNames = {
  /** Number of rules by chain. */
  readonly chains: ReadonlyMap<string, number>;
  readonly sets: ReadonlySet<string>;
};

export type TableAccess = {
  readonly transport: 'netlink' | 'nft';
  /** All or nothing; returns the size of what was sent. */
  readonly apply: (transaction: Transaction) => Promise<number>;
  /** Whether the transaction would succeed in a new table. */
  readonly wantsNewTable: (error: unknown) => boolean;
  /** Undefined when there is no such table. */
  readonly readNames: (table: Table) => Promise<TableNames | undefined>;
  readonly readElements: (table: Table, set: NftSet) => Promise<readonly Element[]>;
  readonly close: () => Promise<void>;
};

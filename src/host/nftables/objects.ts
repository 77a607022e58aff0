// The part of nf_tables that Fairlead writes, as plain objects. Two encoders exist: text for the nft program, and netlink messages.
// Both cover the whole union, so it is as small as the rules allow.
//
// A table belongs to one address family: `address` is an IPv4 address in an `ip` table and an IPv6 address in an `ip6`
// table, and reading the source or destination of a packet means the header of that family.

export type TableFamily = 'ip' | 'ip6';

export type Table = { readonly family: TableFamily; readonly name: string };

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** The hook of a base chain. Its policy is always to accept. */
export type BaseHook = {
  readonly type: 'filter' | 'nat';
  readonly hook: Hook;
  /** The kernel's number: -100 is where destination NAT happens, 0 filtering, 100 source NAT. */
  readonly priority: number;
};

export type Chain = { readonly name: string; readonly base?: BaseHook };

/**
 * `index` is a number in the machine's byte order as numgen makes it (nft calls it an integer, and knows its width only
 * from `typeof`); `mark` is the same on the wire with a name of its own.
 */
export type FieldType = 'address' | 'protocol' | 'port' | 'index' | 'mark';

/** A set, or a map when it has data. Several fields are one concatenated key, each padded to four bytes. */
export type NftSet = {
  readonly name: string;
  readonly key: readonly FieldType[];
  readonly data?: 'verdict' | readonly FieldType[];
  /** Addresses in keys may be ranges (`10.0.0.0/8`). */
  readonly hasIntervals?: true;
  /** Filled by rules, up to so many elements, each of which is forgotten in its time. */
  readonly dynamicSize?: number;
};

export type Transport = 'tcp' | 'udp' | 'sctp';

/** An address or range or transport as text, a port, index or mark as a number: as the set's types say. */
export type Scalar = string | number;

export type Verdict =
  | { readonly kind: 'accept' | 'drop' | 'return' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

export type Element = {
  readonly key: readonly Scalar[];
  /** The value of a map's key. */
  readonly data?: Verdict | readonly Scalar[];
};

/**
 * What a rule reads from a packet, or draws: `{ random: 3 }` is 0, 1 or 2, each as likely as the others. `{ fixed: 7 }` is an
 * index that is 7: nft knows no constants in keys, but a draw of one number above an offset is one.
 */
export type Field =
  | 'source'
  | 'destination'
  | 'protocol'
  | 'destination-port'
  | { readonly random: number }
  | { readonly fixed: number };

/** A match ends the rule where it fails; a lookup in a map ends it where there is no such key. */
export type Statement =
  | { readonly kind: 'match-set'; readonly fields: readonly Field[]; readonly set: string }
  | {
      readonly kind: 'match-range';
      readonly field: 'source' | 'destination';
      readonly cidr: string;
      readonly isInverted: boolean;
    }
  | { readonly kind: 'match-protocol'; readonly protocol: Transport }
  /** The interface that a packet came in on; none for packets of local processes. */
  | {
      readonly kind: 'match-input-interface';
      readonly name: string;
      readonly isPrefix: boolean;
      readonly isInverted: boolean;
    }
  /** Whether the address is one of this machine's own. */
  | { readonly kind: 'match-local-address'; readonly field: 'source' | 'destination' }
  /** The first packets of a connection, until an answer was seen. */
  | { readonly kind: 'match-new-connection' }
  /** Connections whose destination was translated. */
  | { readonly kind: 'match-translated' }
  /** Packets whose mark has this bit. */
  | { readonly kind: 'match-mark'; readonly bit: number }
  /** One packet in `count`, by chance. */
  | { readonly kind: 'match-one-in'; readonly count: number }
  | { readonly kind: 'set-mark'; readonly bit: number }
  | { readonly kind: 'clear-mark'; readonly bit: number }
  /** Adds the key to a dynamic set for this time; ends the rule if the set is full. */
  | {
      readonly kind: 'remember';
      readonly fields: readonly Field[];
      readonly set: string;
      readonly timeoutSeconds: number;
    }
  | { readonly kind: 'look-up-verdict'; readonly fields: readonly Field[]; readonly map: string }
  /** New destination, from a map to `address . port`. Ends the way through the hook. */
  | { readonly kind: 'translate-by-map'; readonly fields: readonly Field[]; readonly map: string }
  /** The rule must match the transport before. */
  | { readonly kind: 'translate'; readonly address: string; readonly port: number }
  /** The source becomes this machine's, with a port drawn at random. */
  | { readonly kind: 'masquerade' }
  /** A reset answers tcp only: the rule must match it before. */
  | { readonly kind: 'reject'; readonly answer: 'tcp-reset' | 'port-unreachable' }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };

export type Rule = { readonly chain: string; readonly statements: readonly Statement[] };

/**
 * Steps of one transaction: the kernel takes all of them or none, in this order, and packets see either the table before or
 * the table after. Adding a table, chain or set that is there already changes nothing; deleting one that is not there
 * fails the transaction, as do elements that are there already with other data.
 */
export type Operation =
  | { readonly kind: 'add-table' }
  | { readonly kind: 'delete-table' }
  | { readonly kind: 'add-chain'; readonly chain: Chain }
  /** Removes the rules of a chain. */
  | { readonly kind: 'flush-chain'; readonly chain: string }
  | { readonly kind: 'delete-chain'; readonly chain: string }
  | { readonly kind: 'add-rule'; readonly rule: Rule }
  | { readonly kind: 'add-set'; readonly set: NftSet }
  | { readonly kind: 'delete-set'; readonly set: string }
  | {
      readonly kind: 'add-elements';
      readonly set: NftSet;
      readonly elements: readonly Element[];
    }
  | {
      readonly kind: 'delete-elements';
      readonly set: NftSet;
      readonly elements: readonly Element[];
    };

export type Transaction = { readonly table: Table; readonly operations: readonly Operation[] };

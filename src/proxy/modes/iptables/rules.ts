// A rule as data: what it looks at, and what it does then. render-rule.ts writes it as text, trace-packet.ts evaluates it.
import type { PortRange } from '../../../ip/port-range.ts';
import type { Protocol } from '../../model/state.ts';

export type Table = 'mangle' | 'filter' | 'nat';

export type Chain = {
  readonly table: Table;
  readonly name: string;
  readonly rules: readonly Rule[];
};

/** A rule of ours in a chain that is not ours. */
export type ForeignRule = { readonly table: Table; readonly chain: string; readonly rule: Rule };

/** All conditions hold at once; a rule without any takes every packet. */
export type Rule = {
  readonly source?: RangeMatch;
  readonly destination?: RangeMatch;
  readonly inputInterface?: InterfaceMatch;
  readonly protocol?: Protocol;
  /** Text for people; changes nothing. */
  readonly comment?: string;
  readonly connection?: ConnectionMatch;
  /** Which end of the packet is an address of this node. */
  readonly local?: 'source' | 'destination';
  readonly mark?: MarkMatch;
  /** The packet goes back to its sender. */
  readonly hasSameEnds?: true;
  /** By chance, so often. */
  readonly probability?: number;
  readonly recent?: RecentMatch;
  /** Needs a protocol. */
  readonly destinationPorts?: PortRange;
  readonly target: Target;
};

/** A range `10.0.0.0/8`, or an address and the bits of it that count, `0.0.0.5/0.0.0.127`. */
export type RangeMatch = { readonly range: string; readonly isNot?: true };

/** A name, or with `+` at its end the beginning of one. */
export type InterfaceMatch = { readonly pattern: string; readonly isNot?: true };

export type ConnectionState = 'NEW' | 'INVALID' | 'RELATED' | 'ESTABLISHED' | 'DNAT';
export type ConnectionMatch = {
  readonly states: readonly ConnectionState[];
  readonly isNot?: true;
  /** Where the connection went before anybody translated it. */
  readonly original?: RangeMatch;
};

/** One bit, set or not. */
export type MarkMatch = { readonly bit: number; readonly isNot?: true };

/** A list of the clients that used an endpoint last. */
export type RecentMatch =
  /** Is the client on the list, not longer ago than this? `update` puts it on the list again. */
  | { readonly kind: 'check' | 'update'; readonly list: string; readonly seconds: number }
  /** Puts the client on the list. */
  | { readonly kind: 'set'; readonly list: string };

export type Target =
  | { readonly kind: 'jump'; readonly chain: string }
  | { readonly kind: 'translate'; readonly ip: string; readonly port: number }
  | { readonly kind: 'mark'; readonly bit: number; readonly action: 'set' | 'flip' }
  /** `count`: the packet goes on; the rule only tells how many there were. */
  | { readonly kind: 'masquerade' | 'accept' | 'drop' | 'reject' | 'return' | 'count' };

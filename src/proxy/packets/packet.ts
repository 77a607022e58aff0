// The first packet of a connection, and the verdict on it. Modes are judged by this, not by the text of their rules.
import type { Family, Protocol } from '../model/state.ts';

export type Packet = {
  readonly family: Family;
  readonly protocol: Protocol;
  /** `forwarded`: arrives from a pod or from outside. `local`: sent by a process of the node itself. */
  readonly origin: 'forwarded' | 'local';
  /** Where a forwarded packet came in; absent for local ones. */
  readonly inputInterface?: string;
  readonly source: string;
  readonly destination: string;
  readonly destinationPort: number;
  /** Whether the destination is an address of the node (its own interfaces, loopback included). */
  readonly isToNode: boolean;
  /** Whether the source is an address of the node. */
  readonly isFromNode: boolean;
};

/** A possible destination, and whether the source becomes the node's address. */
export type Destination = {
  readonly ip: string;
  readonly port: number;
  readonly isMasqueraded: boolean;
};

export type Verdict =
  /** Not for a Service: it is left as it is. */
  | { readonly kind: 'pass' }
  /** Dropped without an answer. */
  | { readonly kind: 'drop' }
  /** Refused with an answer to the client. */
  | { readonly kind: 'reject' }
  /** To one of these, each as likely as the others, sorted by address and port. */
  | { readonly kind: 'translate'; readonly destinations: readonly Destination[] };

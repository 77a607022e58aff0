// The first packet of a connection, and what becomes of it. Modes are judged by this, not by the text of their rules.
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

/** One place the packet can end up at, and whether its source becomes the node's. */
export type Destination = {
  readonly ip: string;
  readonly port: number;
  readonly isMasqueraded: boolean;
};

export type Verdict =
  /** Not ours: it goes on as it is. */
  | { readonly kind: 'pass' }
  /** Silence. */
  | { readonly kind: 'drop' }
  /** A refusal that the client sees at once. */
  | { readonly kind: 'reject' }
  /** To one of these, each as likely as the others, sorted by address and port. */
  | { readonly kind: 'translate'; readonly destinations: readonly Destination[] };

// The contract of relays, for both implementations.
import type { HostPort } from './relay-address.ts';
import type { EndpointCounts } from './relay-counts.ts';

export type RelayToOpen = {
  readonly id: string;
  readonly protocol: 'TCP' | 'UDP';
  /** Port 0 is any free one. */
  readonly listen: HostPort;
  readonly endpoints: readonly HostPort[];
  readonly affinitySeconds?: number;
};

export type RelayUpdate = Pick<RelayToOpen, 'id' | 'endpoints' | 'affinitySeconds'>;

export type RelayTotals = {
  readonly open: number;
  readonly total: number;
  readonly unanswered: number;
  readonly refused: number;
};

/** Of one relay, by endpoint; those that never had a connection are left out. */
export type CarriedByRelay = {
  readonly id: string;
  readonly endpoints: readonly EndpointCounts[];
};

export type Relays = {
  /** Resolves with the port it listens on; rejects when it cannot listen there. */
  readonly open: (relay: RelayToOpen) => Promise<number>;
  /** New connections go to these endpoints. Existing ones stay where they are. */
  readonly update: (update: RelayUpdate) => void;
  /** Accepts no new connections; existing ones stay. */
  readonly close: (id: string) => void;
  readonly totals: () => Promise<RelayTotals>;
  /** Of the relays that are open. */
  readonly carried: () => Promise<readonly CarriedByRelay[]>;
  /** Ends the connections too. */
  readonly stop: () => Promise<void>;
};

export type RelayLimits = {
  /** Connections and UDP clients at a time, of all relays together. */
  readonly maxConnections: number;
  readonly udpIdleMs: number;
};

/** Messages to and from the relay thread. */
export type RelayRequest =
  | { readonly kind: 'open'; readonly relay: RelayToOpen; readonly request: number }
  | { readonly kind: 'update'; readonly update: RelayUpdate }
  | { readonly kind: 'close'; readonly id: string }
  | { readonly kind: 'totals'; readonly request: number }
  | { readonly kind: 'carried'; readonly request: number }
  | { readonly kind: 'stop' };

export type RelayReply =
  | { readonly kind: 'opened'; readonly ask: number; readonly port: number }
  | { readonly kind: 'failed'; readonly ask: number; readonly reason: string }
  | { readonly kind: 'totals'; readonly ask: number; readonly totals: RelayTotals }
  | {
      readonly kind: 'carried';
      readonly ask: number;
      readonly relays: readonly CarriedByRelay[];
    };

export type RelayThreadSettings = {
  readonly limits: RelayLimits;
  /** Readable when there is a request. */
  readonly wake: number;
};

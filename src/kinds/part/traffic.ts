// The traffic of Services on a node, as its proxy counts it when it is asked.

/**
 * Which endpoints a connection could go to, by the policies of the Service; unknown: that depends on the interface by which it came in,
 * which the kernel does not record.
 */
export type EndpointSet = 'cluster' | 'local' | 'unknown';

/** The connections of one service port to one endpoint. */
export type EndpointTraffic = {
  readonly set: EndpointSet;
  /** Whether the proxy sends new connections of the set there now. */
  readonly isEligible: boolean;
  readonly ip: string;
  readonly port: number;
  /** Connections that are known: open ones, and where the kernel counts, those that ended in the last minutes. */
  readonly tracked: number;
  readonly open: number;
  /** Connections without an answer so far. */
  readonly unanswered: number;
  /** Began between the two listings. */
  readonly opened: number;
  /** Between the two listings, from clients. */
  readonly bytesIn: number;
  /** The same, to clients. */
  readonly bytesOut: number;
  /** Connections whose bytes are not counted. */
  readonly uncounted: number;
  /** Different client addresses; `maxClients` stands for that many or more, 0 for unknown. */
  readonly clients: number;
  /** Bytes of the connections with the most between the listings, the largest first. */
  readonly busiest: readonly number[];
};

export type PortTraffic = {
  readonly namespace: string;
  readonly name: string;
  readonly portName: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
  /** How many endpoints of each set the proxy uses. */
  readonly eligible: { readonly cluster: number; readonly local: number };
  readonly endpoints: readonly EndpointTraffic[];
};

/** Partly: some connections began before accounting was switched on. */
export type BytesCounted = 'yes' | 'no' | 'partly';

/** How the proxy chooses an endpoint: each is as likely as the others, or a scheduler considers more. */
export type EndpointChoice = 'even' | 'scheduler';

export type NodeTraffic = {
  readonly node: string;
  readonly mode: string;
  readonly choice: EndpointChoice;
  /** From the first listing to the second. */
  readonly intervalMs: number;
  readonly bytesCounted: BytesCounted;
  readonly ports: readonly PortTraffic[];
  /** Service ports that were left out because the answer would be too long, those with the least traffic. */
  readonly omittedPorts: number;
  /** Whether there were more connections than are compared: rates are too low then. */
  readonly isPartial: boolean;
};

export const maxClients = 1000;
export const maxBusiest = 3;

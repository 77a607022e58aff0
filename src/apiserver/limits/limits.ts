// Everything that bounds what clients can take of the server, with the values that hold unless flags say otherwise.

export type Limits = {
  /** Reads at work at a time; 0 is no limit. */
  readonly maxRequestsInFlight: number;
  /** Writes at work at a time. */
  readonly maxMutatingRequestsInFlight: number;
  /** Requests of one user that may wait for a seat. */
  readonly maxQueuedRequestsPerUser: number;
  readonly queueWaitMs: number;
  readonly maxWatchesPerUser: number;
  /** Connections of exec, attach and port-forward that one user has open. */
  readonly maxTunnelsPerUser: number;
  /** From the head of a request to its answer; watches, proxies and other streams go on longer. */
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  /** Of all bodies that are being read. */
  readonly maxBodyBytesTotal: number;
  readonly maxHeaderBytes: number;
  readonly headerTimeoutMs: number;
  /** Of a connection without a request. */
  readonly idleTimeoutMs: number;
  /** A quarter of them is for those whose user is not known yet, of which one address gets half. */
  readonly maxConnections: number;
  /** Of one user who is no administrator. */
  readonly maxConnectionsPerUser: number;
  readonly maxUnreadBytesPerConnection: number;
  readonly maxUnreadBytes: number;
  readonly slowReaderTimeoutMs: number;
};

const mebibyte = 1024 * 1024;

export const defaultLimits: Limits = {
  // The numbers of kube-apiserver, where there are any.
  maxRequestsInFlight: 400,
  maxMutatingRequestsInFlight: 200,
  maxQueuedRequestsPerUser: 100,
  queueWaitMs: 15_000,
  maxWatchesPerUser: 2000,
  // Each is two connections of this server and processes of a node.
  maxTunnelsPerUser: 500,
  requestTimeoutMs: 60_000,
  maxBodyBytes: 3 * mebibyte,
  maxBodyBytesTotal: 256 * mebibyte,
  // A token, and impersonation with a long list of groups.
  maxHeaderBytes: 64 * 1024,
  headerTimeoutMs: 30_000,
  // Longer than the idle time of common load balancers, so that they close first.
  idleTimeoutMs: 90_000,
  maxConnections: 10_000,
  // Watches over HTTP/1.1 take one each, and there may be as many; and the same again for the rest.
  maxConnectionsPerUser: 4000,
  // The state of a large collection, and then some.
  maxUnreadBytesPerConnection: 128 * mebibyte,
  maxUnreadBytes: 512 * mebibyte,
  slowReaderTimeoutMs: 60_000,
};

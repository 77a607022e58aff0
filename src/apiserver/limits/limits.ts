// The limits of what clients can use of the server, and their defaults.

export type Limits = {
  /** Reads in flight; 0 is no limit. */
  readonly maxRequestsInFlight: number;
  /** Writes in flight. */
  readonly maxMutatingRequestsInFlight: number;
  /** Requests of one user that may wait for a seat. */
  readonly maxQueuedRequestsPerUser: number;
  readonly queueWaitMs: number;
  readonly maxWatchesPerUser: number;
  /** Connections of exec, attach and port-forward that one user has open. */
  readonly maxTunnelsPerUser: number;
  /** From the head of a request to its response; watches, proxies and other streams last longer. */
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  /** The sum of all bodies that are being read. */
  readonly maxBodyBytesTotal: number;
  readonly maxHeaderBytes: number;
  readonly headerTimeoutMs: number;
  /** For a connection without a request. */
  readonly idleTimeoutMs: number;
  /** A quarter of them is for unauthenticated connections, half of which one address may hold. */
  readonly maxConnections: number;
  /** Administrators have no such limit. */
  readonly maxConnectionsPerUser: number;
  readonly maxUnreadBytesPerConnection: number;
  readonly maxUnreadBytes: number;
  readonly slowReaderTimeoutMs: number;
};

const mebibyte = 1024 * 1024;

export const defaultLimits: Limits = {
  // kube-apiserver's defaults, where it has any.
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
  // Longer than the idle timeout of common load balancers, so that they close first.
  idleTimeoutMs: 90_000,
  maxConnections: 10_000,
  // Each watch over HTTP/1.1 needs one, and there may be `maxWatchesPerUser`; as many again for other requests.
  maxConnectionsPerUser: 4000,
  // More than the list of a large collection.
  maxUnreadBytesPerConnection: 128 * mebibyte,
  maxUnreadBytes: 512 * mebibyte,
  slowReaderTimeoutMs: 60_000,
};

// How a client reaches an API server: over HTTPS, or by a call into a server in the same process. Callers do not know which.

export type TransportRequest = {
  readonly method: string;
  /** Path with query, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Authenticates this request with a bearer token instead of the connection's credentials. */
  readonly token?: string;
};

export type TransportResponse = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as a stream; a watch streams until the server or the signal ends it. */
  readonly body: AsyncIterable<Uint8Array>;
};

export type Transport = {
  readonly send: (request: TransportRequest) => Promise<TransportResponse>;
  readonly close: () => Promise<void>;
};

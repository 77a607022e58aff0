// How a client reaches an API server: over HTTPS, or by a call into a server in the same process. Nothing above
// this file knows which.

export type TransportRequest = {
  readonly method: string;
  /** Path with query, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Asked as its bearer, and not as who the connection's own credentials name. */
  readonly token?: string;
};

export type TransportResponse = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it comes; a watch goes on until the server or the signal ends it. */
  readonly body: AsyncIterable<Uint8Array>;
};

export type Transport = {
  readonly send: (request: TransportRequest) => Promise<TransportResponse>;
  readonly close: () => Promise<void>;
};

// A request and its response, independent of sockets: used by the HTTP server and the in-process client.
import type { Duplex } from 'node:stream';
import type { ClientCertificate } from '../host/client-certificate.ts';
import type { User } from './access/user.ts';

export type ApiRequest = {
  readonly method: string;
  /** The undecoded path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The undecoded query, without the question mark. */
  readonly rawQuery?: string;
  /** Lower-case names; repeated headers as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Reads the body whole; rejects with ApiError 413 when it is too large. */
  readonly body: () => Promise<Uint8Array>;
  readonly peer: Peer;
  /** Called with the authenticated user; absent where it is known already. */
  readonly authenticated?: ((user: User) => void) | undefined;
  /** Whether the connection can be upgraded. */
  readonly tunnels?: boolean;
  /** Aborts when the client disconnects. Created on demand: it costs more than a get. */
  readonly signal: () => AbortSignal;
  /** The request's id in logs; absent: created on demand. */
  readonly auditId?: string;
};

/**
 * A request after access control. Its objects are named by its RequestInfo alone: of the query, verbs
 * can read only options.
 */
export type VerbRequest = Omit<ApiRequest, 'query' | keyof RawUrl> & {
  readonly query: QueryOptions;
};

/** Undecoded, for what is forwarded byte for byte. */
export type RawUrl = Pick<ApiRequest, 'path' | 'rawQuery'>;

export type QueryOptions = {
  readonly size: number;
  readonly get: (name: QueryOption) => string | null;
  readonly getAll: (name: QueryOption) => string[];
  readonly has: (name: QueryOption) => boolean;
};

/** Never one that selects objects: `fieldSelector`, `labelSelector` and `watch` are for request-info.ts. */
export type QueryOption =
  | 'allowWatchBookmarks'
  | 'at'
  | 'command'
  | 'container'
  | 'continue'
  | 'dryRun'
  | 'fieldManager'
  | 'fieldValidation'
  | 'follow'
  | 'force'
  | 'gracePeriodSeconds'
  | 'includeObject'
  | 'intervalMilliseconds'
  | 'limit'
  | 'limitBytes'
  | 'orphanDependents'
  | 'ports'
  | 'pretty'
  | 'previous'
  | 'propagationPolicy'
  | 'resourceVersion'
  | 'resourceVersionMatch'
  | 'revision'
  | 'sendInitialEvents'
  | 'sinceSeconds'
  | 'sinceTime'
  | 'stderr'
  | 'stdin'
  | 'stdout'
  | 'stream'
  | 'tailLines'
  | 'timeoutSeconds'
  | 'timestamps'
  | 'tty';

/** The client, as far as the transport knows it. */
export type Peer = {
  readonly address?: string;
  /** A client certificate that the cluster's CA signed. Its validity is checked for each request. */
  readonly certificate?: ClientCertificate;
  /** A client certificate that the CA did not sign, that was not valid when the connection began, or that names several users. */
  readonly untrustedCertificate?: boolean;
  /** The in-process client of a part in the same program, which is trusted. */
  readonly local?: { readonly user: string; readonly groups: readonly string[] };
};

export type ApiResponse = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | string | Stream | Tunnel;
  /** The body is JSON that is still to be converted (yaml/convert-body.ts). */
  readonly convert?: 'yaml' | 'pretty' | undefined;
};

/** A streamed body: started once with the sink to write to. */
export type Stream = { readonly start: (sink: Sink) => void };

/** An upgraded connection, handed over after the head of the response. */
export type Tunnel = { readonly tunnelTo: (client: Duplex) => void };

export type Sink = {
  readonly write: (chunk: Uint8Array) => void;
  /** Bytes written but not yet taken by the other side. */
  readonly buffered: () => number;
  readonly end: () => void;
  /** Ends so that the client sees an error. */
  readonly abort?: () => void;
  /** Calls the listener once when the buffer is drained; to be called while it is not empty. */
  readonly onDrain?: (listener: () => void) => void;
  /** Calls the listener once when the client disconnects or the sink ends. */
  readonly onClose: (listener: () => void) => void;
};

export function isStream(body: ApiResponse['body']): body is Stream {
  return typeof body === 'object' && 'start' in body;
}

export function isTunnel(body: ApiResponse['body']): body is Tunnel {
  return typeof body === 'object' && 'tunnelTo' in body;
}

/** The one value of a header, the first where it was repeated. */
export function header(request: Pick<ApiRequest, 'headers'>, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

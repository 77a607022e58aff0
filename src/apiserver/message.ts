// One request and its answer, free of sockets: the HTTP server and the in-process client both speak this.
import type { Duplex } from 'node:stream';
import type { ClientCertificate } from '../host/client-certificate.ts';
import type { User } from './access/user.ts';

export type ApiRequest = {
  readonly method: string;
  /** The path as it came, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as it came, without the question mark. */
  readonly rawQuery?: string;
  /** Lower-case names; repeated headers as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Reads the body whole; rejects with ApiError 413 when it is too large. */
  readonly body: () => Promise<Uint8Array>;
  readonly peer: Peer;
  /** To be told who asks, where that is somebody and not known yet. */
  readonly authenticated?: ((user: User) => void) | undefined;
  /** Whether the connection can be handed over, as a request to upgrade it asks. */
  readonly tunnels?: boolean;
  /** Aborts when the client has gone. Made for those who ask: making one costs more than a get. */
  readonly signal: () => AbortSignal;
  /** Under which the request is known in logs; absent: whoever needs it makes one. */
  readonly auditId?: string;
};

/**
 * A request as it is after access control. Which objects it is about stands in its RequestInfo alone: of the query, verbs
 * can read nothing but how they are to go about it.
 */
export type VerbRequest = Omit<ApiRequest, 'query' | keyof RawUrl> & {
  readonly query: QueryOptions;
};

/** As they came, for what is passed on to others byte for byte. */
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
  | 'limit'
  | 'limitBytes'
  | 'orphanDependents'
  | 'ports'
  | 'pretty'
  | 'previous'
  | 'propagationPolicy'
  | 'resourceVersion'
  | 'resourceVersionMatch'
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

/** Who is at the other end, as far as the transport knows. */
export type Peer = {
  readonly address?: string;
  /** A client certificate that our CA signed. Whether it holds now is asked for each request. */
  readonly certificate?: ClientCertificate;
  /** A client certificate that our CA did not sign, that was not valid when the connection began, or that names several users. */
  readonly untrustedCertificate?: boolean;
  /** The in-process client of a part in the same program; it is who it says it is. */
  readonly local?: { readonly user: string; readonly groups: readonly string[] };
};

export type ApiResponse = {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | string | Stream | Tunnel;
  /** The body is JSON that is yet to be brought into this form (yaml/convert-body.ts). */
  readonly convert?: 'yaml' | 'pretty' | undefined;
};

/** A body that goes on: started once with the place to write to. */
export type Stream = { readonly start: (sink: Sink) => void };

/** A connection handed over after the head of the answer. */
export type Tunnel = { readonly tunnelTo: (client: Duplex) => void };

export type Sink = {
  readonly write: (chunk: Uint8Array) => void;
  /** Bytes written but not yet taken by the other side. */
  readonly buffered: () => number;
  readonly end: () => void;
  /** Ends in a way that the other side takes for an error. */
  readonly abort?: () => void;
  /** Called once when what is buffered has been taken; to be asked for while something is. */
  readonly onDrain?: (listener: () => void) => void;
  /** Called once when the other side has gone or the sink has ended. */
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

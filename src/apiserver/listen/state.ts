// What the listener holds while it runs.
import type { Limits } from '../limits/limits.ts';
import { createUnreadBytes, type UnreadBytes } from '../limits/unread-bytes.ts';
import type { ApiRequest, ApiResponse, Sink } from '../message.ts';
import type { ServerMetrics } from '../metrics.ts';
import { createStreamPacer, type StreamPacer } from './pace-streams.ts';
import type { BodyBudget } from './read-body.ts';
import { createPieceWriter, type PieceWriter } from './write-pieces.ts';

export type ServerState = {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly limits: Limits;
  readonly metrics: ServerMetrics;
  readonly bodies: BodyBudget;
  readonly unread: UnreadBytes;
  readonly writePieces: PieceWriter;
  /** Of requests over HTTP/2. */
  readonly pacer: StreamPacer;
  /** Open bodies that go on. */
  readonly streams: Set<Sink>;
  /** Requests that are not answered to the end. */
  requests: number;
  /** PEM of those whose client certificates are good. */
  authority: string;
  draining: boolean;
};

export function createState({
  handle,
  limits,
  metrics,
  authority,
}: Pick<ServerState, 'handle' | 'limits' | 'metrics' | 'authority'>): ServerState {
  const bodies = {
    maxBytes: limits.maxBodyBytes,
    maxBytesTotal: limits.maxBodyBytesTotal,
    held: 0,
  };
  const unread = createUnreadBytes({
    perConnectionBytes: limits.maxUnreadBytesPerConnection,
    totalBytes: limits.maxUnreadBytes,
    stalledMs: limits.slowReaderTimeoutMs,
    onCut: metrics.cut,
  });
  metrics.follow({ bodyBytes: () => bodies.held, unreadBytes: unread.total });
  const streams = new Set<Sink>();
  const writePieces = createPieceWriter();
  return {
    ...{ handle, limits, metrics, bodies, unread, writePieces, streams },
    pacer: createStreamPacer(),
    ...{ requests: 0, authority, draining: false },
  };
}

// The state of the running listener.
import type { Limits } from '../limits/limits.ts';
import { createUnreadBytes, type UnreadBytes } from '../limits/unread-bytes.ts';
import type { ApiRequest, ApiResponse, Sink } from '../message.ts';
import type { ServerMetrics } from '../metrics.ts';
import { createStreamPacer, type StreamPacer } from './pace-streams.ts';
import type { BodyBudget } from './read-body.ts';
import { type ChunkWriter, createChunkWriter } from './write-chunks.ts';

export type ServerState = {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly limits: Limits;
  readonly metrics: ServerMetrics;
  readonly bodies: BodyBudget;
  readonly unread: UnreadBytes;
  readonly writeInChunks: ChunkWriter;
  /** For requests over HTTP/2. */
  readonly pacer: StreamPacer;
  /** Open streamed bodies. */
  readonly streams: Set<Sink>;
  /** Requests whose response is not complete. */
  requests: number;
  /** PEM of the certificate authorities of client certificates. */
  clientCa: string;
  isDraining: boolean;
};

export function createState({
  handle,
  limits,
  metrics,
  clientCa,
}: Pick<ServerState, 'handle' | 'limits' | 'metrics' | 'clientCa'>): ServerState {
  const bodies = {
    maxBytes: limits.maxBodyBytes,
    maxBytesTotal: limits.maxBodyBytesTotal,
    bytesInUse: 0,
  };
  const unread = createUnreadBytes({
    perConnectionBytes: limits.maxUnreadBytesPerConnection,
    totalBytes: limits.maxUnreadBytes,
    stalledMs: limits.slowReaderTimeoutMs,
    onCut: metrics.cut,
  });
  metrics.follow({ bodyBytes: () => bodies.bytesInUse, unreadBytes: unread.total });
  const streams = new Set<Sink>();
  const writeInChunks = createChunkWriter();
  return {
    ...{ handle, limits, metrics, bodies, unread, writeInChunks, streams },
    pacer: createStreamPacer(),
    ...{ requests: 0, clientCa, isDraining: false },
  };
}

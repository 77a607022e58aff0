// The messages between the main thread and the thread of the LAN.
import type { Endpoint } from '../host/namespace-sockets.ts';
import type { LanPlan } from './plan-lan.ts';

export type LanThreadOptions = {
  readonly plan: LanPlan;
  /** Two 32-bit integers: whether the last `socket` message has been answered, and the answer. */
  readonly answers: SharedArrayBuffer;
};

/** The main thread blocks until it has the socket. */
export type SocketRequest = {
  readonly kind: 'listen' | 'connect' | 'bind';
  readonly namespacePath: string;
  readonly endpoint: Endpoint;
};

export type ToLanThread =
  | { readonly kind: 'socket'; readonly request: SocketRequest }
  | {
      readonly kind: 'route';
      readonly id: number;
      readonly destination: string;
      readonly gateway: string;
    }
  /** Opens sockets in advance for the socket pool. */
  | { readonly kind: 'stock'; readonly request: SocketRequest; readonly count: number }
  | { readonly kind: 'stop' };

export type FromLanThread =
  | { readonly kind: 'built'; readonly path: string; readonly nodePaths: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'routed'; readonly id: number; readonly problem?: string }
  | {
      readonly kind: 'stocked';
      readonly request: SocketRequest;
      readonly descriptors: readonly number[];
    };

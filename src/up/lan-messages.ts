// What the main thread and the thread of the lan say to each other.
import type { Endpoint } from '../host/namespace-sockets.ts';
import type { LanPlan } from './plan-lan.ts';

export type LanThreadOptions = {
  readonly plan: LanPlan;
  /** Two numbers: whether the answer to the last question is there, and the answer. */
  readonly answers: SharedArrayBuffer;
};

/** What the main thread waits for, without doing anything else meanwhile. */
export type SocketRequest = {
  readonly kind: 'listen' | 'connect' | 'bind';
  readonly namespacePath: string;
  readonly endpoint: Endpoint;
};

export type ToLanThread =
  | { readonly kind: 'socket'; readonly wish: SocketRequest }
  | {
      readonly kind: 'route';
      readonly id: number;
      readonly destination: string;
      readonly gateway: string;
    }
  /** Sockets for connections to come, so that nobody has to wait for them. */
  | { readonly kind: 'stock'; readonly wish: SocketRequest; readonly count: number }
  | { readonly kind: 'stop' };

export type FromLanThread =
  | { readonly kind: 'built'; readonly path: string; readonly nodePaths: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'routed'; readonly id: number; readonly problem?: string }
  | {
      readonly kind: 'stocked';
      readonly wish: SocketRequest;
      readonly descriptors: readonly number[];
    };

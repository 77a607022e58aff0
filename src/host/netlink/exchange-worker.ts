// A netlink socket on a thread of its own, so that requests that take the kernel seconds do not block the event loop.
import { parentPort, workerData } from 'node:worker_threads';
import { NativeUnavailableError } from '../native.ts';
import { SystemCallError } from '../system-call-error.ts';
import { type Exchange, exchange } from './exchange.ts';
import { type NetlinkSocket, openSocket, type SocketOptions } from './socket.ts';

/** Errors lose their class when they are sent between threads. */
export type Failure =
  | { readonly kind: 'system-call'; readonly call: string; readonly errno: number }
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string };

export type ThreadAnswer = { readonly bytes: Uint8Array } | { readonly failure: Failure };

function answer(work: () => Uint8Array): void {
  try {
    parentPort?.postMessage({ bytes: work() } satisfies ThreadAnswer);
  } catch (error) {
    parentPort?.postMessage({ failure: failureOf(error) } satisfies ThreadAnswer);
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof SystemCallError) {
    return { kind: 'system-call', call: error.call, errno: error.errno };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof NativeUnavailableError ? 'unavailable' : 'other', message };
}

let socket: NetlinkSocket | undefined;
answer(() => {
  socket = openSocket(workerData as SocketOptions);
  return new Uint8Array();
});
parentPort?.on('message', (request: Exchange) => {
  answer(() => {
    if (socket === undefined) throw new Error('The socket could not be opened');
    return exchange(socket, request);
  });
});

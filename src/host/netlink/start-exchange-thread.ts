// The client of exchange-worker.ts: requests are sent to the thread as bytes, replies and failures come back.
import { Worker } from 'node:worker_threads';
import { NativeUnavailableError } from '../native.ts';
import { SystemCallError } from '../system-call-error.ts';
import { workerUrl } from '../worker-url.ts';
import type { Exchange } from './exchange.ts';
import type { Failure, ThreadAnswer } from './exchange-worker.ts';
import type { SocketOptions } from './socket.ts';

type Pending = {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
};

export type ExchangeThread = {
  readonly exchange: (exchange: Exchange) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

export async function startExchangeThread(options: SocketOptions): Promise<ExchangeThread> {
  const worker = new Worker(workerUrl('host/netlink/exchange-worker'), { workerData: options });
  // Replies are in the order of requests: the thread handles one at a time.
  const pending: Pending[] = [];
  const failAll = (error: Error): void => {
    for (const { reject } of pending.splice(0)) reject(error);
  };
  let ended: Error | undefined;

  worker.on('message', (answer: ThreadAnswer) => {
    const waiting = pending.shift();
    if (pending.length === 0) worker.unref();
    if ('failure' in answer) waiting?.reject(errorOf(answer.failure));
    else waiting?.resolve(answer.bytes);
  });
  worker.on('error', (error) => failAll(error));
  worker.on('exit', () => {
    ended = new Error('The netlink thread has exited');
    failAll(ended);
  });

  const nextAnswer = (): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      // An idle thread must not keep the process alive; a busy one must.
      worker.ref();
      pending.push({ resolve, reject });
    });

  // The first reply is empty, and says that the socket is open.
  await nextAnswer();
  return {
    exchange: async (request) => {
      if (ended !== undefined) throw ended;
      const answer = nextAnswer();
      worker.postMessage(request);
      return answer;
    },
    close: async () => {
      await worker.terminate();
    },
  };
}

function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case 'system-call':
      return new SystemCallError(failure.call, failure.errno);
    case 'unavailable':
      return new NativeUnavailableError(failure.message);
    case 'other':
      return new Error(failure.message);
  }
}

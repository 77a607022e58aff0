// Starts the thread of a node and exchanges messages with it.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../host/worker-url.ts';
import type { FromNodeThread, NodeThreadOptions, ToNodeThread } from './node-messages.ts';
import type { PullServer } from './serve-pulls.ts';

export type NodeThread = {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly dataDirectory: string;
  /** Absent: it uses the network of this process. */
  readonly namespacePath?: string;
  /** The mode of its proxy; empty until that is known. */
  readonly mode: () => string;
  /** Resolves when the node is registered. Rejects when the thread ends before that. */
  readonly ready: Promise<void>;
  readonly send: (message: ToNodeThread) => void;
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** The error that ended the thread. */
  readonly failure: () => string | undefined;
};

export function startNodeThread(options: NodeThreadOptions, pulls: PullServer): NodeThread {
  const worker = new Worker(workerUrl('up/run-node-worker'), { workerData: options });
  const { name, addresses, dataDirectory, namespacePath } = options;
  let mode = '';
  let failure: string | undefined;
  let isEnded = false;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  void ended.then(() => {
    isEnded = true;
  });
  worker.on('error', (error: Error) => {
    failure = error.stack ?? error.message;
  });
  let resolveReady = (): void => {};
  const started = new Promise<void>((resolve) => {
    resolveReady = resolve;
  });
  const ready = Promise.race([
    started,
    ended.then(() => {
      throw new Error(`Cannot run ${name}: ${failure ?? 'it ended'}`);
    }),
  ]);
  // Handled where `ready` is awaited, which may be after it rejects.
  ready.catch(() => undefined);
  const thread: NodeThread = {
    ...{ name, addresses, dataDirectory, ready, ended },
    ...(namespacePath === undefined ? {} : { namespacePath }),
    mode: () => mode,
    failure: () => failure,
    send: (message) => {
      if (!isEnded) worker.postMessage(message);
    },
  };
  worker.on('message', (message: FromNodeThread) => {
    switch (message.kind) {
      case 'mode':
        mode = message.mode;
        return;
      case 'ready':
        return resolveReady();
      case 'failed':
        failure = message.message;
        return;
      default:
        pulls.receive(name, message, thread.send);
    }
  });
  return thread;
}

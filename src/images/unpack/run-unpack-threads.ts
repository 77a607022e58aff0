// Runs unpacking in worker threads, a few at a time.
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../host/worker-url.ts';
import { UnpackError, type UnpackReason } from './unpack-error.ts';
import type { Unpacked, UnpackJob } from './unpack-layer.ts';

export type UnpackThreads = {
  /** Throws UnpackError. When the signal aborts, nothing writes any more once it has thrown. */
  readonly unpack: (job: UnpackJob, signal: AbortSignal) => Promise<Unpacked>;
};

export type UnpackAnswer =
  | { readonly kind: 'unpacked'; readonly unpacked: Unpacked }
  | { readonly kind: 'failed'; readonly reason?: UnpackReason; readonly message: string };

/** Decompression takes a processor each; others have work, too. */
const maxThreads = 2;
/** A million paths of average length; the longest paths that Linux has would need gigabytes. */
const maxThreadMegabytes = 512;

export function createUnpackThreads(): UnpackThreads {
  let running = 0;
  const waiting: (() => void)[] = [];
  const started = async (signal: AbortSignal): Promise<void> => {
    while (running >= maxThreads) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    if (signal.aborted) ended();
    signal.throwIfAborted();
  };
  const ended = (): void => {
    running -= 1;
    waiting.shift()?.();
  };
  return {
    unpack: async (job, signal) => {
      await started(signal);
      try {
        return await runOne(job, signal);
      } finally {
        ended();
      }
    },
  };
}

async function runOne(job: UnpackJob, signal: AbortSignal): Promise<Unpacked> {
  const worker = new Worker(workerUrl('images/unpack-layer-worker'), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: maxThreadMegabytes },
  });
  const abort = (): void => void worker.terminate();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answer = await new Promise<UnpackAnswer>((resolve, reject) => {
      let received: UnpackAnswer | undefined;
      worker.on('message', (message: UnpackAnswer) => {
        received = message;
      });
      worker.on('error', reject);
      // It has closed its files by then.
      worker.on('exit', () => {
        if (received === undefined)
          reject(new Error('The thread that unpacks a layer ended early'));
        else resolve(received);
      });
    });
    if (answer.kind === 'unpacked') return answer.unpacked;
    if (answer.reason === undefined) throw new Error(answer.message);
    throw new UnpackError(answer.reason, answer.message);
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new UnpackError('limit', 'the names in the layer take too much memory');
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

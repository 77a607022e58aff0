// The thread that unpacks one layer: writing files by system calls blocks.
import { parentPort, workerData } from 'node:worker_threads';
import type { UnpackAnswer } from './unpack/run-unpack-threads.ts';
import { UnpackError } from './unpack/unpack-error.ts';
import { type UnpackJob, unpackLayer } from './unpack/unpack-layer.ts';

const answer = (message: UnpackAnswer): void => parentPort?.postMessage(message);

try {
  answer({ kind: 'unpacked', unpacked: await unpackLayer(workerData as UnpackJob) });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  answer({
    kind: 'failed',
    message,
    ...(error instanceof UnpackError ? { reason: error.reason } : {}),
  });
}

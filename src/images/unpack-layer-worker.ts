// The thread that unpacks one layer: writing files by system calls blocks.
import { parentPort, workerData } from 'node:worker_threads';
import type { UnpackAnswer } from './unpack/run-unpack-threads.ts';
import { UnpackError } from './unpack/unpack-error.ts';
import { type UnpackJob, unpackLayer } from './unpack/unpack-layer.ts';

const answer = (message: UnpackAnswer): void => parentPort?.postMessage(message);

unpackLayer(workerData as UnpackJob).then(
  (unpacked) => answer({ kind: 'unpacked', unpacked }),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof UnpackError ? { reason: error.reason } : {};
    answer({ kind: 'failed', message, ...reason });
  },
);

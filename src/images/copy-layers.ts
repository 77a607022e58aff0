// The root of a container as a copy of its image, for machines where overlayfs cannot be used. Blocks of files are shared where the file system can.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { workerUrl } from '../host/worker-url.ts';
import type { UnpackedImage } from './image-store.ts';
import type { CopyJob } from './unpack/copy-trees.ts';

/** `target` is an existing, empty directory. What is there when it throws is for the caller to remove. */
export async function copyLayers(
  { form, directories }: UnpackedImage,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const workerData: CopyJob = { form, directories, target };
  const worker = new Worker(workerUrl('images/copy-layers-worker'), { workerData });
  const abort = (): void => void worker.terminate();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await once(worker, 'exit');
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

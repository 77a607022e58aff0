// Writes large responses in chunks: the next chunk of a response is encrypted only when its client has read the previous
// one, and only one chunk of all responses is written in each iteration of the event loop. Requests of other clients are
// handled in between, and a client that does not read costs no more than its first chunk.
import { createLinkedQueue } from '../../host/linked-queue.ts';

/** Encrypting one takes a tenth of a millisecond. Larger chunks save nothing, and a client that does not read holds one. */
const chunkBytes = 64 * 1024;

export type ChunkOutlet = {
  readonly destroyed: boolean;
  readonly write: (chunk: Uint8Array) => boolean;
  readonly end: (chunk: Uint8Array) => unknown;
  readonly once: (event: 'drain', listener: () => void) => unknown;
};

/** Writes the whole body and ends the outlet. Returns a function that says how many bytes are not written yet. */
export type ChunkWriter = (outlet: ChunkOutlet, body: Uint8Array) => () => number;

export function createChunkWriter(): ChunkWriter {
  const schedule = createIterationQueue();
  return (outlet, body) => {
    let offset = 0;
    const write = (): void => {
      if (outlet.destroyed) return;
      const chunk = body.subarray(offset, offset + chunkBytes);
      offset += chunk.length;
      if (offset === body.length) outlet.end(chunk);
      else if (outlet.write(chunk)) schedule(write);
      else outlet.once('drain', () => schedule(write));
    };
    // The first chunk too: a burst of large responses would otherwise start all of them in one iteration.
    schedule(write);
    return () => body.length - offset;
  };
}

/** Runs one of the scheduled functions in each iteration of the event loop, first in, first out. */
function createIterationQueue(): (work: () => void) => void {
  const waiting = createLinkedQueue<() => void>();

  function runNext(): void {
    const next = waiting.first();
    if (next === undefined) return;
    waiting.remove(next);
    if (waiting.size() > 0) setImmediate(runNext);
    next.value();
  }

  return (work) => {
    waiting.add(work);
    if (waiting.size() === 1) setImmediate(runNext);
  };
}

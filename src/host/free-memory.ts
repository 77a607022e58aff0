// Gives memory back to the machine after work that needed much of it: left alone, V8 keeps what it once had until the
// program is busy again, and a program that waits never is.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** For programs that run on every node, where memory matters more than the last bit of speed. Call it first. */
export function preferSmallHeap(): void {
  keepNewSpaceSmall();
  // A thread that begins sets it back, for all threads.
  process.on('worker', (worker) => worker.once('online', keepNewSpaceSmall));
}

/** New objects get a few megabytes instead of up to 48. */
function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Stops the program for some tens of milliseconds: only after work that took far longer. */
export function freeMemory(): void {
  setFlagsFromString('--expose-gc');
  // Joins pages that are half empty. Only while collecting: it would slow everything else down.
  setFlagsFromString('--optimize-for-size');
  const collect: unknown = runInNewContext('gc');
  // The first time finds out which pages are half empty, the second time empties them.
  for (let times = 0; times < 2 && typeof collect === 'function'; times += 1) collect();
  setFlagsFromString('--no-optimize-for-size');
}

// Returns memory to the machine after work that needed much of it. V8 collects garbage only while a program allocates, so an idle
// program keeps its largest heap.
//
// V8's flags belong to the process, and some callers are worker threads (DNS, the nodes of `up`). That is safe: V8 reads each flag
// at the time of a collection, and none changes what a program computes. While one thread collects here, a collection of another
// thread compacts more than it otherwise would, which takes it longer by milliseconds. Where two threads collect here at once, the
// second compacts less.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadCLibrary, type NativeFunction } from './native.ts';

/** For programs that run on every node, where memory matters more than throughput. Call it first, in the main thread. */
export function preferSmallHeap(): void {
  limitNewSpace();
  // Node sets V8's flags again when a worker thread starts.
  process.on('worker', (worker) => worker.once('online', limitNewSpace));
}

/** Keeps the space for new objects at its initial few megabytes; it would grow to 48. */
function limitNewSpace(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Blocks the thread for tens of milliseconds: call it only after work that took far longer. */
export function freeMemory(): void {
  // Gives new contexts, and no others, a function that collects garbage.
  setFlagsFromString('--expose-gc');
  // Compacts pages that are half empty as well. With one object in seven alive, scattered over 150 MiB, that left a heap of
  // 114 MiB instead of 126 to 154 (Node.js 20). Not for longer: it would slow down everything else.
  setFlagsFromString('--optimize-for-size');
  const collect: unknown = runInNewContext('gc');
  // The first collection finds the half-empty pages, the second evacuates them.
  for (let times = 0; times < 2 && typeof collect === 'function'; times += 1) collect();
  setFlagsFromString('--no-optimize-for-size');
  trimMalloc ??= declareTrim();
  trimMalloc(0);
}

let trimMalloc: NativeFunction | undefined;

/**
 * glibc keeps what Node.js, OpenSSL and libuv have freed, scattered over the arenas of all threads: after the proxy has read 100,000
 * endpoints, 40 MiB, of which 12 are in use. Other C libraries give memory back by themselves.
 */
function declareTrim(): NativeFunction {
  try {
    return loadCLibrary().declare('int malloc_trim(size_t pad)');
  } catch {
    // Without koffi, or without glibc: the memory stays with the process, which works all the same.
    return () => 0;
  }
}

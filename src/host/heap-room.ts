// Lets a small heap grow more before V8 collects all of it. V8 does that after growth by a tenth when most objects survive: in a
// heap of 30 MiB every second or two while clients connect and disconnect, with a pause of ten milliseconds. With some tens of
// megabytes more it happens once a minute.
//
// The flag belongs to the process, so the worker threads of `up` have it too. The share is computed from the heap of the main
// thread, which is the largest while the flag is set: the others grow by the same share of less, and so by less than `roomBytes`.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const mebibyte = 1024 * 1024;
/** Garbage that may accumulate before a full collection. */
const roomBytes = 64 * mebibyte;
/** V8 decides for larger heaps: a fixed share would limit it under heavy writes. */
const maxBytes = 128 * mebibyte;
/** Not set at the start, because V8 rejects its code cache under other flags than it was made with. */
const checkIntervalMs = 5000;

type Heap = {
  readonly usedBytes: () => number;
  readonly setFlag: (flag: string) => void;
};

const ownHeap: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  setFlag: setFlagsFromString,
};

/** The returned function gives the decision back to V8. */
export function relaxHeapGrowth({ usedBytes, setFlag }: Heap = ownHeap): () => void {
  const setGrowth = (percent: number): void => setFlag(`--heap-growing-percent=${percent}`);
  const timer = setInterval(() => setGrowth(growthPercent(usedBytes())), checkIntervalMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    setGrowth(0);
  };
}

/** The growth that starts a full collection, in percent of the heap; 0: V8 decides. */
export function growthPercent(usedBytes: number): number {
  return usedBytes >= maxBytes ? 0 : Math.floor((100 * roomBytes) / usedBytes);
}

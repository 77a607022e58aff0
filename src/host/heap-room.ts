// Room for garbage in the heap of a program that answers many. V8 collects the whole heap once it has grown by a tenth, where most of it lives
// long: for a heap of thirty megabytes that is every second or two in which clients come and go, and what is being answered waits for
// ten milliseconds each time. A few tens of megabytes more, and it happens once in a minute.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const mebibyte = 1024 * 1024;
/** What may lie about before the whole heap is collected. */
const roomBytes = 64 * mebibyte;
/** From here on V8 chooses: a fixed share would hold it back where much is written. */
const largestBytes = 128 * mebibyte;
/** Not from the start: under other flags V8 does not take what it compiled before, and a start is short. */
const lookEveryMs = 5000;

type Heap = {
  readonly usedBytes: () => number;
  readonly setFlag: (flag: string) => void;
};

const ownHeap: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  setFlag: setFlagsFromString,
};

/** Until it is called off. */
export function giveHeapRoom({ usedBytes, setFlag }: Heap = ownHeap): () => void {
  const setGrowth = (percent: number): void => setFlag(`--heap-growing-percent=${percent}`);
  const timer = setInterval(() => setGrowth(growthPercent(usedBytes())), lookEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    setGrowth(0);
  };
}

/** By how much of what it holds the heap may grow; 0: V8 decides. */
export function growthPercent(usedBytes: number): number {
  return usedBytes >= largestBytes ? 0 : Math.floor((100 * roomBytes) / usedBytes);
}

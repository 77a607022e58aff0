// The keys of a work queue that wait for a worker: first in, first out, and where keys have priorities, the highest first.

export type ReadyKeys = {
  /** `at`: since when it waits. */
  readonly add: (key: string, at: number) => void;
  readonly has: (key: string) => boolean;
  /** Removes the next key; returns since when it waited. */
  readonly take: () => { readonly key: string; readonly at: number } | undefined;
  readonly size: () => number;
  readonly clear: () => void;
};

/** One iterator continues: a new one per call would skip over the slots of all deleted entries each time (O(n²)). */
type Lane = { readonly keys: Map<string, number>; next: MapIterator<string> };

export function createReadyKeys(priorityOf: (key: string) => number = () => 0): ReadyKeys {
  const lanes = new Map<number, Lane>();
  /** Of the lanes, the highest last. Lanes that become empty go, except for the last one, so that most queues have one forever. */
  const priorities: number[] = [];
  const priorityByKey = new Map<string, number>();
  const addLane = (priority: number): Lane => {
    const keys = new Map<string, number>();
    const lane = { keys, next: keys.keys() };
    lanes.set(priority, lane);
    priorities.splice(slotOf(priorities, priority), 0, priority);
    return lane;
  };
  const clear = (): void => {
    lanes.clear();
    priorityByKey.clear();
    priorities.length = 0;
  };
  return {
    add(key, at) {
      const priority = priorityOf(key);
      if (priorityByKey.size === 0 && !lanes.has(priority)) clear();
      priorityByKey.set(key, priority);
      (lanes.get(priority) ?? addLane(priority)).keys.set(key, at);
    },
    has: (key) => priorityByKey.has(key),
    take() {
      const priority = priorities.at(-1) ?? 0;
      const lane = lanes.get(priority);
      const key = lane === undefined ? undefined : firstOf(lane);
      if (lane === undefined || key === undefined) return undefined;
      const at = lane.keys.get(key) ?? 0;
      lane.keys.delete(key);
      priorityByKey.delete(key);
      if (lane.keys.size === 0 && lanes.size > 1) {
        lanes.delete(priority);
        priorities.pop();
      }
      return { key, at };
    },
    size: () => priorityByKey.size,
    clear,
  };
}

/** Where the priority belongs among the sorted ones. */
function slotOf(priorities: readonly number[], priority: number): number {
  let low = 0;
  let high = priorities.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((priorities[middle] ?? 0) < priority) low = middle + 1;
    else high = middle;
  }
  return low;
}

function firstOf(lane: Lane): string | undefined {
  const next = lane.next.next();
  if (!next.done) return next.value;
  lane.next = lane.keys.keys();
  return lane.next.next().value;
}

// The keys that expire and when; hands them over when they are due.

/** The time, and timers; tests pass their own. */
export type StoreClock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back once after the delay; returns the function that cancels it. */
  readonly setTimer?: (callback: () => void, delayMs: number) => () => void;
};

export type Expiring = {
  readonly key: string;
  readonly revision: number;
  readonly expiresAt: number;
};

export type Expiry = {
  add(expiring: Expiring): void;
  close(): void;
};

/** Longer delays are split: clocks are adjusted, and Node's timers overflow. */
const maxSleepMs = 60_000;
/** So that keys which expire close together are deleted in one commit. */
const minSleepMs = 100;
/** Handed over at once, so that other transactions are committed in between. */
const maxAtOnce = 500;

/** Hands keys to `expire` when they are due; each once, so `expire` adds those again that it could not delete. */
export function startExpiry(
  { now, setTimer = setSystemTimer }: StoreClock,
  expire: (due: readonly Expiring[]) => void,
): Expiry {
  const heap: Expiring[] = [];
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;
  const arm = (): void => {
    const next = heap[0]?.expiresAt;
    if (next === undefined || next >= wakeAt) return;
    cancel?.();
    const delayMs = Math.min(Math.max(next - now(), minSleepMs), maxSleepMs);
    wakeAt = now() + delayMs;
    cancel = setTimer(wake, delayMs);
  };
  const wake = (): void => {
    wakeAt = Number.POSITIVE_INFINITY;
    cancel = undefined;
    const due: Expiring[] = [];
    while (due.length < maxAtOnce && (heap[0]?.expiresAt ?? Infinity) <= now()) {
      const first = pop(heap);
      if (first !== undefined) due.push(first);
    }
    if (due.length > 0) expire(due);
    arm();
  };
  return {
    add(expiring) {
      push(heap, expiring);
      arm();
    },
    close() {
      cancel?.();
      heap.length = 0;
    },
  };
}

/** Does not keep the process alive. */
function setSystemTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}

/** A binary heap: no entry is due before the one at (index - 1) >> 1. */
function push(heap: Expiring[], added: Expiring): void {
  let index = heap.length;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.expiresAt <= added.expiresAt) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = added;
}

function pop(heap: Expiring[]): Expiring | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const earlier = due(heap[right]) < due(heap[left]) ? right : left;
    const child = heap[earlier];
    if (child === undefined || child.expiresAt >= last.expiresAt) break;
    heap[index] = child;
    index = earlier;
  }
  heap[index] = last;
  return first;
}

function due(expiring: Expiring | undefined): number {
  return expiring?.expiresAt ?? Number.POSITIVE_INFINITY;
}

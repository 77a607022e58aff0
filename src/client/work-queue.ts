// A work queue with client-go's semantics: a key that is added several times is queued once, is processed by one worker at a time, and is
// queued again when it was added during processing. Unlike client-go's, it limits the rate of each key, and `take()` yields to the event
// loop, so that reconcilers that never wait do not starve the rest of the process.
import type { Cancel, Clock } from '../host/clock.ts';
import { yieldWhenDue } from '../host/yield-when-due.ts';
import { type BackOffLimits, backOffMs } from './back-off.ts';
import { createKeyRate, type KeyRateLimits } from './key-rate.ts';
import type { QueueObserver } from './queue-metrics.ts';
import { createReadyKeys } from './ready-keys.ts';

export type WorkQueue = {
  readonly add: (key: string) => void;
  /** Adds the key after a delay; of several pending delays the earliest counts. */
  readonly addAfter: (key: string, ms: number) => void;
  /** Adds the key with back-off, which grows with every call until `forget`. */
  readonly retry: (key: string) => void;
  /** The number of retries since the last `forget`. */
  readonly retries: (key: string) => number;
  readonly forget: (key: string) => void;
  /** The next key, which the caller processes until `done`; undefined once the queue has shut down. */
  readonly take: () => Promise<string | undefined>;
  readonly done: (key: string) => void;
  /** The number of keys that wait for a worker. */
  readonly length: () => number;
  /** Shuts down: pending `take()` calls resolve to undefined, and queued keys are dropped. */
  readonly end: () => void;
};

export type WorkQueueOptions = {
  readonly clock: Clock;
  readonly backOff?: BackOffLimits;
  /** The maximum rate of one key. */
  readonly keyRate?: KeyRateLimits;
  /** Keys with a higher number are taken first; absent: all are alike. */
  readonly priorityOf?: (key: string) => number;
  /** Absent: nothing is measured. */
  readonly observer?: QueueObserver;
};

/** As client-go: the first retry almost at once, up to about 17 minutes. */
const defaultBackOff: BackOffLimits = { firstMs: 5, maxMs: 1_000_000 };

export function createWorkQueue({
  clock,
  backOff = defaultBackOff,
  keyRate,
  priorityOf,
  observer,
}: WorkQueueOptions): WorkQueue {
  const ready = createReadyKeys(priorityOf);
  const working = new Set<string>();
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const delays = createDelays(clock);
  const rate = createKeyRate(keyRate);
  const takers: ((key: string | undefined) => void)[] = [];
  let ended = false;

  const startNext = (): string | undefined => {
    const next = ready.take();
    if (next === undefined) return undefined;
    const now = clock.now();
    observer?.waited(now - next.at);
    observer?.depthIs(ready.size());
    working.add(next.key);
    rate.started(next.key, now);
    return next.key;
  };
  const makeReady = (key: string): void => {
    const now = clock.now();
    const waitMs = rate.waitMs(key, now);
    if (waitMs > 0) {
      delays.set(key, waitMs, () => add(key));
      return;
    }
    ready.add(key, now);
    observer?.depthIs(ready.size());
    // A worker waits only while nothing else is ready.
    takers.shift()?.(startNext());
  };
  const add = (key: string): void => {
    if (ended || ready.has(key) || again.has(key)) return;
    observer?.added();
    if (working.has(key)) again.add(key);
    else makeReady(key);
  };
  const addAfter = (key: string, ms: number): void => {
    if (ended) return;
    if (ms <= 0) add(key);
    else delays.set(key, ms, () => add(key));
  };
  return {
    add,
    addAfter,
    retry(key) {
      const count = failures.get(key) ?? 0;
      observer?.retried();
      failures.set(key, count + 1);
      addAfter(key, backOffMs(backOff, count));
    },
    retries: (key) => failures.get(key) ?? 0,
    forget: (key) => void failures.delete(key),
    async take() {
      await yieldWhenDue();
      if (ended) return undefined;
      const next = startNext();
      if (next !== undefined) return next;
      return new Promise((resolve) => takers.push(resolve));
    },
    done(key) {
      working.delete(key);
      if (again.delete(key) && !ended) makeReady(key);
    },
    length: ready.size,
    end() {
      ended = true;
      delays.clear();
      ready.clear();
      again.clear();
      for (const resolve of takers.splice(0)) resolve(undefined);
    },
  };
}

type Delay = { readonly at: number; readonly cancel: Cancel };

function createDelays(clock: Clock) {
  const delays = new Map<string, Delay>();
  return {
    set(key: string, ms: number, run: () => void): void {
      const at = clock.now() + ms;
      const earlier = delays.get(key);
      if (earlier !== undefined && earlier.at <= at) return;
      earlier?.cancel();
      const cancel = clock.after(ms, () => {
        delays.delete(key);
        run();
      });
      delays.set(key, { at, cancel });
    },
    clear(): void {
      for (const { cancel } of delays.values()) cancel();
      delays.clear();
    },
  };
}

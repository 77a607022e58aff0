// Large requests yield between their steps: each step may take as long as its object is large, and the event loop must
// not wait for all of them at once. Small requests, which nearly all are, run without a pause.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { type WorkBudget, WorkBudgetExceeded, withinBudget } from '../../schema/work-budget.ts';
import { tooMuchWork } from './check-values.ts';

export type Pace = {
  /** Adds bytes that the following steps work on: the body, the stored object. */
  readonly grow: (bytes: number) => void;
  /** Whether the steps take long enough to pause between them. */
  readonly isLarge: () => boolean;
  /** After a step: what to wait for before the next one, where the request is large. */
  readonly pause: () => Promise<void> | undefined;
  /** Steps that remain to the request. */
  readonly budget: WorkBudget;
};

/**
 * For one request: several times what the largest objects take, with the largest patches of every form. Work that grows
 * faster than the size of the request exceeds it.
 */
export const maxSteps = 1_000_000;
/** Steps between two pauses: each takes some tenths of a microsecond, and the largest object four for each of its values. */
export const maxStepsAtOnce = 200_000;

/** A step over fewer bytes takes well below a millisecond. */
const smallBytes = 64 * 1024;

export function createPace(): Pace {
  let size = 0;
  return {
    grow(bytes) {
      size += bytes;
    },
    isLarge: () => size >= smallBytes,
    pause: () => (size < smallBytes ? undefined : nextIteration()),
    budget: { remaining: maxSteps },
  };
}

/** Steps that together took less run without a pause: some take no time, and there may be thousands of them. */
const minPauseMs = 2;

/** Runs code that yields after each of its steps, at the expense of the request's budget. */
export async function runSteps<T>(steps: Generator<undefined, T>, pace: Pace): Promise<T> {
  let begin = performance.now();
  for (;;) {
    const { done, value } = spending(pace, () => steps.next());
    if (done) return value;
    if (performance.now() - begin < minPauseMs) continue;
    await pace.pause();
    begin = performance.now();
  }
}

/** Does work without a pause at the expense of the request's budget; answers 413 when that is used up. */
export function spending<T>({ budget }: Pace, work: () => T): T {
  const granted = Math.min(budget.remaining, maxStepsAtOnce);
  const own = { remaining: granted };
  try {
    return withinBudget(own, work);
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) throw tooMuchWork(granted);
    throw error;
  } finally {
    budget.remaining -= granted - own.remaining;
  }
}

/** The same for work that grows with the number of objects: it yields when its time slice is used up. */
export async function runWhileDue<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const due = yieldWhenDue();
    if (due !== undefined) await due;
  }
}

/** Without a pause, for work that is known to be small. */
export function runAtOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Objects between two yields: a millisecond or two of work. */
export const stepObjects = 100;

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

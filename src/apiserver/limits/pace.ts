// Large requests let others go first between their steps: each step may take as long as its object is large, and the
// event loop must not wait for all of them at once. Small requests, nearly all there are, go through without a pause.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { type WorkBudget, WorkBudgetExceeded, withinBudget } from '../../schema/work-budget.ts';
import { tooMuchWork } from './check-values.ts';

export type Pace = {
  /** Bytes that the steps from here on work on: the body, the object that is there. */
  readonly grow: (bytes: number) => void;
  /** Whether the steps take long enough to be parted. */
  readonly isLarge: () => boolean;
  /** After a step: what to wait for before the next, where the request is large. */
  readonly pause: () => Promise<void> | undefined;
  /** Steps that are left to the request. */
  readonly budget: WorkBudget;
};

/**
 * Of one request: several times what the largest objects take, with the largest patches of every form. Work that grows
 * faster than the request does not fit.
 */
export const maxSteps = 1_000_000;
/** Of these between two pauses: each takes some tenths of a microsecond, and the largest object four for each of its values. */
export const maxStepsAtOnce = 200_000;

/** A step over less takes well below a millisecond or two. */
const smallBytes = 64 * 1024;

export function createPace(): Pace {
  let size = 0;
  return {
    grow(bytes) {
      size += bytes;
    },
    isLarge: () => size >= smallBytes,
    pause: () => (size < smallBytes ? undefined : nextTurn()),
    budget: { left: maxSteps },
  };
}

/** Steps that took less are done in one go: some take no time, and there may be thousands of them. */
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
  const given = Math.min(budget.left, maxStepsAtOnce);
  const own = { left: given };
  try {
    return withinBudget(own, work);
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) throw tooMuchWork(given);
    throw error;
  } finally {
    budget.left -= given - own.left;
  }
}

/** The same for work that grows with the number of objects: it lets others go first when it has had its time. */
export async function runWhileDue<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const due = yieldWhenDue();
    if (due !== undefined) await due;
  }
}

/** In one go, for what is known to be small. */
export function runAtOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Objects that are worked on between two yields: a millisecond or two. */
export const stepObjects = 100;

/** For what is large whatever it holds, and for parts that no request waits for. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// What this thread is working on: requests that are not answered, keys that are being reconciled, names that are being
// looked up. Costs one small object while the work lasts; texts are made only when somebody asks, which is when the event
// loop is blocked (`flags/watch-stalls.ts`).
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../host/linked-queue.ts';

export type WorkDescription = Readonly<Record<string, string | number | undefined>>;

type Describe<T> = (work: T) => WorkDescription;

type Underway = { readonly work: object; readonly describe: Describe<never> };

/** What `beginWork` gives and `endWork` takes. */
export type BegunWork = QueueEntry<Underway>;

export type WorkRegistry = {
  readonly underway: LinkedQueue<Underway>;
  /** Called once, before the first work begins. */
  beforeFirst: (() => void) | undefined;
  /** The latest of what is under way, as JSON. The thread that watches for stalls evaluates this in the blocked one. */
  readonly describeAll: () => string;
};

/**
 * One for each thread, reachable by a name: a thread that is blocked is asked from outside, and several bundles of one
 * program share it.
 */
export const registryName = 'fairlead.currentWork';

/** What is blocked began lately: more than these would only hide it. */
const maxDescribed = 16;

export const currentWork: WorkRegistry = findRegistry();

export function beginWork<T extends object>(work: T, describe: Describe<T>): BegunWork {
  if (currentWork.beforeFirst !== undefined) {
    const start = currentWork.beforeFirst;
    currentWork.beforeFirst = undefined;
    start();
  }
  return currentWork.underway.add({ work, describe: describe as Describe<never> });
}

export function endWork(begun: BegunWork): void {
  currentWork.underway.remove(begun);
}

function findRegistry(): WorkRegistry {
  const name = Symbol.for(registryName);
  const threads = globalThis as unknown as Record<symbol, WorkRegistry | undefined>;
  threads[name] ??= createRegistry();
  return threads[name];
}

function createRegistry(): WorkRegistry {
  const underway = createLinkedQueue<Underway>();
  return {
    underway,
    beforeFirst: undefined,
    describeAll: () => {
      const latest = underway.all().slice(-maxDescribed).reverse();
      return JSON.stringify(latest.map(({ work, describe }) => describe(work as never)));
    },
  };
}

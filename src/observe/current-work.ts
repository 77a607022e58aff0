// What this thread is working on: unanswered requests, keys being reconciled, names being resolved. Each costs one small
// object while the work lasts; descriptions are made only when the event loop is blocked (`flags/watch-stalls.ts`).
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../host/linked-queue.ts';

export type WorkDescription = Readonly<Record<string, string | number | undefined>>;

type Describe<T> = (work: T) => WorkDescription;

type WorkInProgress = { readonly work: object; readonly describe: Describe<never> };

/** Returned by `beginWork`, passed to `endWork`. */
export type BegunWork = QueueEntry<WorkInProgress>;

export type WorkRegistry = {
  readonly inProgress: LinkedQueue<WorkInProgress>;
  /** Called once, before the first work begins: a thread that never works needs no watchdog. */
  beforeFirst: (() => void) | undefined;
  /** The latest work in progress, as JSON. The watchdog thread evaluates this in the blocked one. */
  readonly describeAll: () => string;
};

/** One for each thread, under a global name: the watchdog reaches it from outside, and all bundles of the program share it. */
export const registryName = 'fairlead.currentWork';

/** What blocks the thread began recently; a longer list would only hide it. */
const maxDescribed = 16;

export const currentWork: WorkRegistry = findRegistry();

export function beginWork<T extends object>(work: T, describe: Describe<T>): BegunWork {
  if (currentWork.beforeFirst !== undefined) {
    const start = currentWork.beforeFirst;
    currentWork.beforeFirst = undefined;
    start();
  }
  return currentWork.inProgress.add({ work, describe: describe as Describe<never> });
}

export function endWork(work: BegunWork): void {
  currentWork.inProgress.remove(work);
}

function findRegistry(): WorkRegistry {
  const name = Symbol.for(registryName);
  const threads = globalThis as unknown as Record<symbol, WorkRegistry | undefined>;
  threads[name] ??= createRegistry();
  return threads[name];
}

function createRegistry(): WorkRegistry {
  const inProgress = createLinkedQueue<WorkInProgress>();
  return {
    inProgress,
    beforeFirst: undefined,
    describeAll: () => {
      const latest = inProgress.all().slice(-maxDescribed).reverse();
      return JSON.stringify(latest.map(({ work, describe }) => describe(work as never)));
    },
  };
}

// Microtasks run before timers, sockets and signals, which wait until the chain of promises ends. Work that may chain without end (calls
// within one process, queues) calls this, and yields to the event loop after its time slice.

/** Well below what a client notices, and long enough that yielding costs little. */
const maxBusyMs = 10;

/** When this iteration of the event loop was first asked about; undefined: not yet. */
let busySince: number | undefined;

/** Undefined: continue. Otherwise a promise that resolves after the event loop has run. */
export function yieldWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (busySince === undefined) {
    busySince = now;
    setImmediate(release);
    return undefined;
  }
  return now - busySince < maxBusyMs ? undefined : new Promise((resolve) => setImmediate(resolve));
}

/** Asked again after each wait: all that wait resume in the same iteration. */
export async function untilNotDue(): Promise<void> {
  for (let due = yieldWhenDue(); due !== undefined; due = yieldWhenDue()) await due;
}

function release(): void {
  busySince = undefined;
}

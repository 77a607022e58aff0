// Chains of promises run before anything else of the event loop: timers, sockets and signals wait until they end. Work that may
// go on without end (calls within one process, queues) asks here, and waits for the event loop when it has had its time.

/** Well below what a client notices, and so long that yielding costs next to nothing. */
const maxHoldMs = 10;

/** When the event loop last came round, as far as somebody asked since. */
let heldSince: number | undefined;

/** Undefined: go on. Otherwise wait for it: the event loop goes round once before it resolves. */
export function yieldWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (heldSince === undefined) {
    heldSince = now;
    setImmediate(release);
    return undefined;
  }
  return now - heldSince < maxHoldMs ? undefined : new Promise((resolve) => setImmediate(resolve));
}

function release(): void {
  heldSince = undefined;
}

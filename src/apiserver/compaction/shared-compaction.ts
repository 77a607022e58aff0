// Forgets old revisions of a store that several servers share. One key says how far; whoever of them writes it first in
// an interval compacts, to where it saw the store an interval before. Upstream: storage/etcd3/compact.go.
import type { Log } from '../../observe/log.ts';
import type { Store } from '../../storage/store.ts';

export type SharedCompactionOptions = {
  readonly store: Store;
  /** 0: never, as where somebody else compacts. */
  readonly intervalMs: number;
  readonly log: Log;
};

/** Kubernetes' own interval. */
export const defaultCompactionIntervalMs = 5 * 60 * 1000;

const key = '/compact_rev_key';

export function startSharedCompaction(options: SharedCompactionOptions): () => void {
  const { intervalMs, log } = options;
  if (intervalMs === 0) return () => {};
  const look = createCompactor(options.store, log);
  const begin = (): void => {
    look().catch((error: unknown) => log.error('cannot compact', { error: String(error) }));
  };
  begin();
  const timer = setInterval(begin, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** One look, to be called once an interval. */
export function createCompactor(store: Store, log: Log): () => Promise<void> {
  let marked = 0;
  let seen = 0;
  return async () => {
    const outcome = await store.transact({
      compare: [{ key, revision: marked }],
      write: [{ put: key, value: Buffer.from(String(seen)) }],
    });
    if (!outcome.committed) {
      // Another server was faster in this interval: it is its turn, and this one begins to count from here.
      marked = outcome.failed[0]?.found?.revision ?? 0;
      seen = outcome.revision;
      return;
    }
    marked = outcome.revision;
    const target = seen;
    seen = outcome.revision;
    if (target === 0) return;
    await store.compact(target);
    log.debug('compacted', { revision: target });
  };
}

// Compacts a store that several servers share. The server that first writes a common key in an interval compacts, to the
// revision of the store one interval ago. Upstream: storage/etcd3/compact.go.
import type { Log } from '../../observe/log.ts';
import type { Store } from '../../storage/store.ts';

export type SharedCompactionOptions = {
  readonly store: Store;
  /** 0: never, when another program compacts. */
  readonly intervalMs: number;
  readonly log: Log;
};

/** Kubernetes' interval. */
export const defaultCompactionIntervalMs = 5 * 60 * 1000;

const key = '/compact_rev_key';

export function startSharedCompaction(options: SharedCompactionOptions): () => void {
  const { intervalMs, log } = options;
  if (intervalMs === 0) return () => {};
  const compact = createCompactor(options.store, log);
  const attempt = (): void => {
    compact().catch((error: unknown) =>
      log.error('Failed to compact, retrying', { error: String(error) }),
    );
  };
  attempt();
  const timer = setInterval(attempt, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns what to call once in each interval. */
export function createCompactor(store: Store, log: Log): () => Promise<void> {
  let keyRevision = 0;
  let lastRevision = 0;
  return async () => {
    const outcome = await store.transact({
      compare: [{ key, revision: keyRevision }],
      write: [{ put: key, value: Buffer.from(String(lastRevision)) }],
    });
    if (!outcome.committed) {
      // Another server compacts in this interval.
      keyRevision = outcome.failed[0]?.found?.revision ?? 0;
      lastRevision = outcome.revision;
      return;
    }
    keyRevision = outcome.revision;
    const target = lastRevision;
    lastRevision = outcome.revision;
    if (target === 0) return;
    await store.compact(target);
    log.debug('Compacted revisions', { revision: target });
  };
}

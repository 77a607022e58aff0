// Forgets old revisions at a steady pace: readers may look five to ten minutes back, the disk stays bounded.
import type { Log } from '../observe/log.ts';
import type { Store } from '../storage/store.ts';

/** Kubernetes' own interval. */
const intervalMs = 5 * 60 * 1000;

export function startCompaction({
  store,
  log,
}: {
  readonly store: Store;
  readonly log: Log;
}): () => void {
  let previous = store.compactedRevision();
  const compact = async (): Promise<void> => {
    const current = await store.currentRevision();
    if (previous > store.compactedRevision()) {
      await store.compact(previous);
      log.debug('compacted', { revision: previous });
    }
    previous = current;
  };
  const timer = setInterval(() => {
    compact().catch((error: unknown) => log.error('cannot compact', { error: String(error) }));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

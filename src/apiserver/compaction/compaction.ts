// Compacts a store that only this server writes: by age, so that watches can resume five to ten minutes back, and by
// number of revisions, so that a burst of writes cannot fill the disk in the meantime.
import type { Log } from '../../observe/log.ts';
import type { Store } from '../../storage/store.ts';

/** Kubernetes' interval. */
const ageMs = 5 * 60 * 1000;
const checkIntervalMs = 10_000;
/** A few hundred megabytes at most, and a second or two to open. */
const maxRevisions = 100_000;

export type CompactionOptions = {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Log;
};

export function startCompaction({ store, now, log }: CompactionOptions): () => void {
  let aged = { revision: store.compactedRevision(), at: now() };
  const check = async (): Promise<void> => {
    const current = await store.currentRevision();
    let target = current - maxRevisions;
    if (now() - aged.at >= ageMs) {
      target = Math.max(target, aged.revision);
      aged = { revision: current, at: now() };
    }
    if (target <= store.compactedRevision()) return;
    await store.compact(target);
    log.debug('Compacted revisions', { revision: target });
  };
  const timer = setInterval(() => {
    check().catch((error: unknown) =>
      log.error('Failed to compact, retrying', { error: String(error) }),
    );
  }, checkIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

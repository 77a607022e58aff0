// Forgets old revisions: by age, so that readers may look five to ten minutes back, and by number, so that a
// storm of writes cannot fill the disk in the meantime.
import type { Log } from '../../observe/log.ts';
import type { Store } from '../../storage/store.ts';

/** Kubernetes' own interval. */
const ageMs = 5 * 60 * 1000;
const lookMs = 10_000;
/** A few hundred megabytes at most, and a second or two to open. */
const maxRevisions = 100_000;

export type CompactionOptions = {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Log;
};

export function startCompaction({ store, now, log }: CompactionOptions): () => void {
  let aged = { revision: store.compactedRevision(), at: now() };
  const look = async (): Promise<void> => {
    const current = await store.currentRevision();
    let target = current - maxRevisions;
    if (now() - aged.at >= ageMs) {
      target = Math.max(target, aged.revision);
      aged = { revision: current, at: now() };
    }
    if (target <= store.compactedRevision()) return;
    await store.compact(target);
    log.debug('compacted', { revision: target });
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => log.error('cannot compact', { error: String(error) }));
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

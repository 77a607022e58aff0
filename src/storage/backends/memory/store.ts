// The backend for tests: nothing outlives the process.
import type { StoreClock } from '../../expiry.ts';
import { firstRevision } from '../../history.ts';
import type { Change, LogStep, RecordId, RecordLog } from '../../record-log.ts';
import { startRecordStore } from '../../record-store.ts';
import type { Store } from '../../store.ts';
import { createVersions } from '../../versions.ts';

export function openMemoryStore(clock: StoreClock): Store {
  const loaded = {
    log: createMemoryLog(),
    versions: createVersions(),
    revision: firstRevision,
    compacted: firstRevision,
  };
  return startRecordStore(loaded, clock);
}

function createMemoryLog(): RecordLog {
  /** The writes of each revision, by position. */
  const revisions = new Map<number, Map<number, Change>>();
  const apply = ({ add, remove }: LogStep): void => {
    for (const change of add) {
      const writes = revisions.get(change.revision) ?? new Map<number, Change>();
      revisions.set(change.revision, writes.set(change.position, change));
    }
    for (const { revision, position } of remove) {
      const writes = revisions.get(revision);
      writes?.delete(position);
      if (writes?.size === 0) revisions.delete(revision);
    }
  };
  return {
    async commit(step) {
      apply(step);
    },
    readValue({ revision, position }: RecordId) {
      const change = revisions.get(revision)?.get(position);
      if (change === undefined) throw new Error(`No change has id ${revision}/${position}`);
      return change.value;
    },
    readAfter(revision, upTo, wanted) {
      const changes: Change[] = [];
      for (let next = revision + 1; next <= upTo && changes.length < wanted; next++) {
        changes.push(...(revisions.get(next)?.values() ?? []));
      }
      return changes;
    },
    async close() {
      revisions.clear();
    },
  };
}

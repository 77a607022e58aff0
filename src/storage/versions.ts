// The index in memory: the retained versions of each key, without the values, as a chain from the newest to
// the oldest.
import { createOrderedKeys } from './ordered-keys.ts';
import type { Change, RecordId } from './record-log.ts';

export type Version = RecordId & {
  readonly type: 'put' | 'delete';
  readonly createRevision: number;
  readonly expiresAt: number | undefined;
  /** The version before; compaction cuts the chain here. */
  older: Version | undefined;
};

export type Versions = {
  /** The newest version, which may be a delete; undefined when none of the key is retained. */
  newest(key: string): Version | undefined;
  /** The version as of a revision; undefined when the key did not exist then. */
  at(key: string, revision: number): Version | undefined;
  /** Every key with a retained version, from this one on, in byte order. */
  keysFrom(key: string): IterableIterator<string>;
  add(change: Omit<Change, 'value' | 'origin' | 'isLast' | 'previous'>): void;
  /** Drops the versions of a key that are needed only for reads before the revision. */
  compact(key: string, revision: number): void;
  /** Keys whose newest version expires. */
  expiring(): IterableIterator<{ key: string; revision: number; expiresAt: number }>;
};

export function createVersions(): Versions {
  const chains = new Map<string, Version>();
  // Made at the first listing: loading many keys is cheaper in bulk than one by one.
  let ordered: ReturnType<typeof createOrderedKeys> | undefined;
  return {
    newest: (key) => chains.get(key),
    at(key, revision) {
      const version = notAfter(chains.get(key), revision);
      return version?.type === 'put' ? version : undefined;
    },
    keysFrom(key) {
      ordered ??= createOrderedKeys(chains.keys());
      return ordered.from(key);
    },
    add({ key, revision, position, type, createRevision, expiresAt }) {
      const older = chains.get(key);
      chains.set(key, { revision, position, type, createRevision, expiresAt, older });
      if (older === undefined) ordered?.add(key);
    },
    compact(key, revision) {
      let newer: Version | undefined;
      let version = chains.get(key);
      while (version !== undefined && version.revision > revision) {
        newer = version;
        version = version.older;
      }
      if (version === undefined) return;
      version.older = undefined;
      if (version.type === 'put') return;
      if (newer !== undefined) newer.older = undefined;
      else if (chains.delete(key)) ordered?.delete(key);
    },
    *expiring() {
      for (const [key, { revision, expiresAt }] of chains) {
        if (expiresAt !== undefined) yield { key, revision, expiresAt };
      }
    },
  };
}

function notAfter(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version !== undefined && version.revision > revision) version = version.older;
  return version;
}

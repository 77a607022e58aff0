// Fills an empty store with an export. Its revisions continue above those of the export, and no earlier one can be read: a client
// that holds one gets 410 and lists anew.
import type { Store, Write } from '../store.ts';
import { StoreError } from '../store-error.ts';
import type { ExportEntry } from './export-format.ts';

export type ImportOptions = {
  readonly entries: AsyncIterable<ExportEntry>;
  /** The store is to be above this revision before anything is written. */
  readonly above: number;
  readonly now: () => number;
};

export type Imported = {
  readonly written: number;
  /** Keys that had expired. */
  readonly expired: number;
  readonly revision: number;
};

export async function refuseUnlessEmpty(store: Store, target: string): Promise<void> {
  const { entries } = await store.list('', { limit: 1 });
  if (entries.length === 0) return;
  throw new StoreError(
    'foreign',
    `Cannot import to ${target}: it is not empty. Nothing was changed.`,
  );
}

export async function importStore(store: Store, options: ImportOptions): Promise<Imported> {
  const { entries, above, now } = options;
  await raiseRevision(store, above);
  let written = 0;
  let expired = 0;
  let batch: Write[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await store.transact({ compare: [], write: batch });
    written += batch.length;
    batch = [];
    bytes = 0;
  };
  for await (const { key, value, expiresAt } of entries) {
    const remainingSeconds =
      expiresAt === undefined ? undefined : Math.ceil((expiresAt - now()) / 1000);
    if (remainingSeconds !== undefined && remainingSeconds <= 0) {
      expired += 1;
      continue;
    }
    if (batch.length >= maxWrites || bytes + value.length > maxBytes) await flush();
    batch.push({
      put: key,
      value,
      ...(remainingSeconds === undefined ? {} : { ttlSeconds: remainingSeconds }),
    });
    bytes += value.length;
  }
  await flush();
  const revision = await store.currentRevision();
  await store.compact(revision);
  return { written, expired, revision };
}

/** etcd's limits are 128 operations and 1.5 MB in a transaction. */
const maxWrites = 100;
const maxBytes = 512 * 1024;

/** Together they share a sync of the disk. */
const parallel = 200;
const raiseKey = '/import-revision';

/** The revisions of a backend cannot always be set: it gets there one write at a time. */
async function raiseRevision(store: Store, above: number): Promise<void> {
  const write: readonly Write[] = [{ put: raiseKey, value: new Uint8Array(0) }];
  let current = await store.currentRevision();
  if (current >= above) return;
  while (current < above) {
    const missing = Math.min(above - current, parallel);
    await Promise.all(
      Array.from({ length: missing }, () => store.transact({ compare: [], write })),
    );
    current = await store.currentRevision();
  }
  await store.transact({ compare: [], write: [{ delete: raiseKey }] });
}

/** Takes back what an import that failed has written. */
export async function emptyStore(store: Store): Promise<void> {
  for (;;) {
    const { entries } = await store.list('', { limit: maxWrites });
    if (entries.length === 0) return;
    await store.transact({ compare: [], write: entries.map(({ key }) => ({ delete: key })) });
  }
}

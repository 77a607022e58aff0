// All keys under a prefix as of one revision, as the lines of an export.
import { listPages } from '../list-pages.ts';
import type { Store } from '../store.ts';
import { createExportWriter } from './export-format.ts';

export type ExportOptions = {
  readonly prefix: string;
  /** RFC 3339. */
  readonly now: string;
  /** The prefix of the keys in their store; absent: none. */
  readonly keyPrefix?: string;
};

/** Of one read. */
const pageEntries = 500;

export async function* exportStore(
  store: Store,
  { prefix, now, keyPrefix = '' }: ExportOptions,
): AsyncGenerator<string> {
  const writer = createExportWriter();
  const expiries = new Map<string, number>();
  const readExpiry = async (): Promise<void> => {
    for (const { key, expiresAt } of await store.expiring()) expiries.set(key, expiresAt);
  };
  await readExpiry();
  let hasHeader = false;
  for await (const { entries, revision } of listPages(store, prefix, { limit: pageEntries })) {
    if (!hasHeader) {
      // Others may write meanwhile: the second read has the keys that were written after the first.
      await readExpiry();
      yield writer.header({
        revision,
        exportedAt: now,
        ...(keyPrefix === '' ? {} : { keyPrefix }),
      });
      hasHeader = true;
    }
    for (const entry of entries) {
      const expiresAt = expiries.get(entry.key);
      yield writer.entry({ ...entry, ...(expiresAt === undefined ? {} : { expiresAt }) });
    }
  }
  yield writer.end();
}

// All keys under a prefix as of one revision, as the lines of an export.
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
  let page = await store.list(prefix, { limit: pageEntries });
  const { revision } = page;
  // Others may write meanwhile: the second read has the keys that were written after the first.
  await readExpiry();
  yield writer.header({ revision, exportedAt: now, ...(keyPrefix === '' ? {} : { keyPrefix }) });
  for (;;) {
    for (const entry of page.entries) {
      const expiresAt = expiries.get(entry.key);
      yield writer.entry({ ...entry, ...(expiresAt === undefined ? {} : { expiresAt }) });
    }
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) break;
    page = await store.list(prefix, { revision, after: last.key, limit: pageEntries });
  }
  yield writer.end();
}

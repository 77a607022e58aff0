// All keys under a prefix as of one revision, as the lines of an export.
import type { Store } from '../store.ts';
import { createExportWriter } from './export-format.ts';

export type ExportOptions = {
  readonly prefix: string;
  /** RFC 3339. */
  readonly now: string;
  /** What stands before the keys where they are stored; absent: nothing. */
  readonly keyPrefix?: string;
};

/** In one read. */
const pageEntries = 500;

export async function* exportStore(
  store: Store,
  { prefix, now, keyPrefix = '' }: ExportOptions,
): AsyncGenerator<string> {
  const writer = createExportWriter();
  const ends = new Map<string, number>();
  const learn = async (): Promise<void> => {
    for (const { key, expiresAt } of await store.expiring()) ends.set(key, expiresAt);
  };
  await learn();
  let page = await store.list(prefix, { limit: pageEntries });
  const { revision } = page;
  // Others may write meanwhile: what came between the two reads is known from one or the other.
  await learn();
  yield writer.header({ revision, exportedAt: now, ...(keyPrefix === '' ? {} : { keyPrefix }) });
  for (;;) {
    for (const entry of page.entries) {
      const expiresAt = ends.get(entry.key);
      yield writer.entry({ ...entry, ...(expiresAt === undefined ? {} : { expiresAt }) });
    }
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) break;
    page = await store.list(prefix, { revision, after: last.key, limit: pageEntries });
  }
  yield writer.end();
}

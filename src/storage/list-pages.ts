// A large listing in pages, all as of one revision: nothing holds it whole, and others go first between two pages.
import type { Listing, Store } from './store.ts';

export type PageOptions = {
  /** The most entries of a page. */
  readonly limit: number;
  /** Absent: the revision that the first page shows. */
  readonly revision?: number;
};

/** At least one page, which may be empty. */
export async function* listPages(
  store: Pick<Store, 'list'>,
  prefix: string,
  { limit, revision }: PageOptions,
): AsyncGenerator<Listing> {
  let page = await store.list(prefix, { limit, ...(revision === undefined ? {} : { revision }) });
  const shown = page.revision;
  for (;;) {
    yield page;
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return;
    page = await store.list(prefix, { limit, revision: revision ?? shown, after: last.key });
  }
}

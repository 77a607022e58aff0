// The objects that a list shows: now or at a revision, whole or page by page.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { ApiError, badRequest, expired, internal } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { listPages } from '../../storage/list-pages.ts';
import { isStoreError } from '../../storage/store-error.ts';
import { readEntry } from '../cache/read-stored.ts';
import type { Cached } from '../cache/resource-cache.ts';
import type { ListMeta } from '../encode/table.ts';
import { runWhileDue, stepObjects } from '../limits/pace.ts';
import type { ListOptions } from '../request/list-options.ts';
import { type Call, keyPrefix } from './call.ts';
import { type ContinueToken, decodeContinue, encodeContinue } from './continue-token.ts';
import { waitForRevision } from './wait-for-revision.ts';

export type Page = { readonly items: readonly Cached[]; readonly metadata: ListMeta };

export async function readPage(call: Call, options: ListOptions): Promise<Page> {
  const { context, resource } = call;
  const prefix = keyPrefix(call);
  const token = continueFrom(options);
  await waitForRevision(call, options.resourceVersion);
  const revision =
    token === undefined ? exactRevision(options) : token.revision > 0 ? token.revision : undefined;
  const shown = revision ?? context.resources.revision();
  const everything =
    revision === undefined || revision === context.resources.revision()
      ? resource.cache.list(prefix)
      : await listAt(call, prefix, revision).catch((error: unknown) => {
          throw isStoreError(error, 'compacted') ? tooOld(options, token) : error;
        });
  const after = token === undefined ? '' : prefix + token.after;
  const rest = after === '' ? everything : everything.filter((cached) => cached.key > after);
  return runWhileDue(cutPage(call, { rest, options, prefix, shown }));
}

function continueFrom({ continueToken, resourceVersion }: ListOptions): ContinueToken | undefined {
  if (continueToken === '') return undefined;
  const token = decodeContinue(continueToken);
  if (resourceVersion === undefined || resourceVersion === 0) return token;
  throw badRequest('specifying resource version is not allowed when using continue');
}

type PageRequest = {
  readonly rest: readonly Cached[];
  readonly options: ListOptions;
  readonly prefix: string;
  readonly shown: number;
};

/** The selected objects up to the limit, and where the next page starts. */
function* cutPage(
  { resource }: Call,
  { rest, options, prefix, shown }: PageRequest,
): Generator<undefined, Page> {
  const { view } = resource;
  const resourceVersion = String(shown);
  const ignoresLimit = options.resourceVersion === 0 && options.continueToken === '';
  const limit = options.limit <= 0 || ignoresLimit ? Number.POSITIVE_INFINITY : options.limit;
  const items: Cached[] = [];
  let position = 0;
  for (; position < rest.length && items.length < limit; position += 1) {
    const cached = view(rest[position] as Cached);
    if (options.selectsAll || options.selects(cached.object)) items.push(cached);
    if (position % stepObjects === stepObjects - 1) yield;
  }
  if (position >= rest.length) return { items, metadata: { resourceVersion } };
  const last = rest[position - 1] as Cached;
  const next = encodeContinue({ revision: shown, after: last.key.slice(prefix.length) });
  const remaining = options.selectsAll ? { remainingItemCount: rest.length - position } : {};
  return { items, metadata: { resourceVersion, continue: next, ...remaining } };
}

/** The revision that must be read exactly: requested by resourceVersionMatch, or implied by a limit. */
function exactRevision(options: ListOptions): number | undefined {
  const { resourceVersion = 0, resourceVersionMatch, limit } = options;
  if (resourceVersionMatch === 'Exact') return resourceVersion;
  const implied = resourceVersionMatch === '' && limit > 0 && resourceVersion > 0;
  return implied ? resourceVersion : undefined;
}

/** Objects that are read from the store in one go: a few milliseconds. */
const readAtOnce = 500;

/** In steps: everything that there was at the revision is read and decrypted anew. */
async function listAt(
  { context, resource }: Call,
  prefix: string,
  revision: number,
): Promise<readonly Cached[]> {
  const found: Cached[] = [];
  const { store } = context;
  for await (const { entries } of listPages(store, prefix, { revision, limit: readAtOnce })) {
    for (const entry of entries) {
      const read = readEntry(resource.codec, entry);
      if (!('object' in read))
        throw internal(`unable to transform key ${goQuote(read.key)}: ${read.reason}`);
      found.push(read);
    }
    const due = yieldWhenDue();
    if (due !== undefined) await due;
  }
  return found;
}

/** A page that is compacted comes with a token to continue inconsistently at the current revision. */
function tooOld({ limit }: ListOptions, token: ContinueToken | undefined): Error {
  if (limit <= 0 && token === undefined)
    return expired('The resourceVersion for the provided list is too old.');
  const start =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter';
  if (token === undefined) return expired(`${start}.`);
  const { status } = expired(
    `${start}, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.`,
  );
  const next = encodeContinue({ revision: -1, after: token.after });
  return new ApiError({ ...status, metadata: { continue: next } });
}

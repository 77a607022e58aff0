// The store on an etcd cluster, which any number of API servers may share. One watch over all keys feeds the listeners;
// a transaction is answered when that watch has delivered its revision, so a cache is never behind an answer.
import type { StoreClock } from '../../expiry.ts';
import type {
  FailedCompare,
  Listing,
  ListOptions,
  Outcome,
  Store,
  StoreEvent,
  Transaction,
  Write,
} from '../../store.ts';
import { StoreError } from '../../store-error.ts';
import { assertWritable } from '../../write-rules.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import {
  createEtcdClient,
  type EtcdClient,
  type EtcdClientOptions,
  type MemberStream,
} from './client.ts';
import { readExpiring } from './expiring.ts';
import { endOfPrefix, keyAfter, progressKey, rangeStart } from './key-range.ts';
import { createLeases, type Leases } from './leases.ts';
import type { Operation, TransactionRequest, TransactionResponse } from './messages.ts';
import { type ProgressRequests, requestProgress, useStream } from './progress-requests.ts';
import { createRevisionProgress, type RevisionProgress } from './revision-progress.ts';
import { followRange, toEntry } from './watch.ts';

export const defaultEtcdPrefix = '/fairlead';

export type EtcdStoreOptions = EtcdClientOptions & {
  /** In front of every key, so that several stores can share the cluster. Without a slash at its end it is for keys that begin with one. */
  readonly prefix: string;
  readonly now: StoreClock['now'];
};

/** A listing is read in pages, so that no response is very large. */
const pageEntries = 2000;

type Parts = {
  readonly client: EtcdClient;
  readonly now: () => number;
  readonly prefix: string;
  readonly leases: Leases;
  readonly progress: RevisionProgress;
  readonly catchUp: CatchUp;
  readonly requests: ProgressRequests;
  readonly end: AbortController;
  /** Whether the last write was refused because etcd is out of space. */
  isFull: boolean;
};

export async function openEtcdStore({ prefix, now, ...options }: EtcdStoreOptions): Promise<Store> {
  const client = createEtcdClient(options);
  const end = new AbortController();
  try {
    const revision = await currentRevision(client, prefix);
    const progress = createRevisionProgress(revision, await findCompacted(client, revision));
    const requests: ProgressRequests = { send: undefined, unanswered: 0 };
    const catchUp = createCatchUp({
      progress,
      currentRevision: () => currentRevision(client, prefix),
      requestProgress: () => requestProgress(client, prefix, requests),
    });
    const leases = createLeases(client, now);
    const parts = { client, now, prefix, leases, progress, catchUp, requests, end, isFull: false };
    const following = listen(parts);
    return storeOf(parts, following);
  } catch (error) {
    client.close();
    throw error;
  }
}

function storeOf(parts: Parts, following: Promise<void>): Store {
  const { client, prefix, progress, catchUp, end } = parts;
  const pending = new Set<Promise<unknown>>();
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (end.signal.aborted) throw closed();
    const promise = work();
    pending.add(promise);
    try {
      return await promise;
    } finally {
      pending.delete(promise);
    }
  };
  return {
    catchUp: () => guarded(catchUp.toPresent),
    get: (key, { revision } = {}) =>
      guarded(async () => {
        const wanted = revision === undefined ? {} : { revision };
        const [found] = (await client.range({ key: prefix + key, ...wanted })).entries;
        return found && toEntry(found, prefix.length);
      }),
    list: (under, listOptions) => guarded(() => list(parts, under, listOptions ?? {})),
    transact: (transaction) => guarded(() => transact(parts, transaction)),
    watch: (under, afterRevision, signal) => watch(parts, under, { afterRevision, signal }),
    subscribe: progress.subscribe,
    currentRevision: () => guarded(() => currentRevision(client, prefix)),
    checkWrites: () =>
      guarded(async () => {
        await currentRevision(client, prefix);
        // Reads work while etcd is out of space: only a write shows whether it still is.
        if (parts.isFull) await tryWrite(parts);
      }),
    expiring: () => guarded(() => readExpiring(client, prefix, parts.now)),
    compactedRevision: progress.compacted,
    compact: (revision) =>
      guarded(async () => {
        if (revision <= progress.compacted()) return;
        if (revision > (await currentRevision(client, prefix))) throw future(revision);
        await compact(client, revision);
        progress.compact(revision);
      }),
    async close() {
      if (end.signal.aborted) return;
      const started = Promise.allSettled(pending);
      // Transactions that are under way wait for their revision.
      await started;
      end.abort();
      await following;
      client.close();
    },
  };
}

/** Another server may have compacted as far or further: that is as good. */
async function compact(client: EtcdClient, revision: number): Promise<void> {
  try {
    await client.compact(revision);
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'compacted') throw error;
  }
}

/** Any read returns the revision; one that only counts is the cheapest. */
async function currentRevision(client: EtcdClient, prefix: string): Promise<number> {
  return (await client.range({ key: prefix === '' ? '\0' : prefix, isCountOnly: true })).revision;
}

/**
 * The oldest revision that can be read. etcd does not report it, so it is searched for: a few dozen small reads, once.
 * Not by a watch from revision 1: older releases send no response to it when nothing is compacted.
 */
async function findCompacted(client: EtcdClient, current: number): Promise<number> {
  let low = 1;
  let high = current;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isReadable(client, middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function isReadable(client: EtcdClient, revision: number): Promise<boolean> {
  try {
    await client.range({ key: '\0', revision, isCountOnly: true });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'compacted') return false;
    throw error;
  }
}

/** Feeds the listeners until the store is closed. */
async function listen(parts: Parts): Promise<void> {
  const { client, prefix, progress, requests, end } = parts;
  const { signal } = end;
  const onStream = (stream: MemberStream): void => useStream(requests, stream);
  while (!signal.aborted) {
    const afterRevision = progress.revision();
    try {
      const followed = followRange({ client, prefix, under: '', afterRevision, signal, onStream });
      for await (const { revision, events } of followed) {
        requests.unanswered = 0;
        progress.advance(revision, events);
      }
    } catch (error) {
      // Another server compacted what was not delivered yet, as after a long outage.
      if (!(error instanceof StoreError) || error.reason !== 'compacted') {
        progress.close(error instanceof Error ? error : new Error(String(error)));
        // A listener that throws has missed events, and its cache is wrong from now on: the process must not go on.
        queueMicrotask(() => {
          throw error;
        });
        return;
      }
      await relist(parts);
    }
  }
  progress.close(closed());
}

const retryMs = 500;

async function relist(parts: Parts): Promise<void> {
  while (!parts.end.signal.aborted) {
    try {
      parts.progress.replace(await list(parts, '', {}));
      return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

async function list(
  { client, prefix }: Parts,
  under: string,
  options: ListOptions,
): Promise<Listing> {
  const { after = '', limit = Number.POSITIVE_INFINITY } = options;
  const rangeEnd = endOfPrefix(rangeStart(prefix, under));
  const entries = [];
  let { revision } = options;
  let from = after >= under && after !== '' ? prefix + keyAfter(after) : rangeStart(prefix, under);
  for (;;) {
    const page = await client.range({
      key: from === '' ? '\0' : from,
      rangeEnd,
      limit: Math.min(limit - entries.length, pageEntries),
      ...(revision === undefined ? {} : { revision }),
    });
    // All pages are read at the revision of the first.
    revision ??= page.revision;
    const ours = page.entries.filter(({ key }) => key !== progressKey(prefix));
    entries.push(...ours.map((found) => toEntry(found, prefix.length)));
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return { entries, revision, more: false };
    if (entries.length >= limit) return { entries, revision, more: true };
    from = keyAfter(last.key);
  }
}

async function transact(parts: Parts, { compare, write }: Transaction): Promise<Outcome> {
  assertWritable(write);
  const { prefix, catchUp } = parts;
  const answer = await transactNotingFull(parts, {
    compare: compare.map(({ key, revision }) => ({ key: prefix + key, revision })),
    success: await Promise.all(write.map((each) => toOperation(parts, each))),
    failure: compare.map(({ key }) => ({ kind: 'get', key: prefix + key })),
  });
  const { revision, hasSucceeded } = answer;
  // A transaction that only deletes may have found nothing to delete; then its revision is another writer's.
  const isOurs = hasSucceeded && (write.some((each) => 'put' in each) || answer.deleted > 0);
  // A client that tries again after a failed comparison must see what made it fail.
  await (isOurs ? catchUp.toOwnWrite(revision) : catchUp.toRevision(revision));
  if (hasSucceeded) return { committed: true, revision };
  const failed = compare.flatMap((each, n): FailedCompare[] => {
    const found = answer.found[n];
    if ((found?.modRevision ?? 0) === each.revision) return [];
    return [{ ...each, found: found && toEntry(found, prefix.length) }];
  });
  return { committed: false, revision, failed };
}

/** Remembers whether etcd is out of space, which only the response to a write says. */
async function transactNotingFull(
  parts: Parts,
  request: TransactionRequest,
): Promise<TransactionResponse> {
  try {
    const answer = await parts.client.transact(request);
    if (request.success.some(({ kind }) => kind === 'put')) parts.isFull = false;
    return answer;
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'full') parts.isFull = true;
    throw error;
  }
}

async function tryWrite(parts: Parts): Promise<void> {
  const key = progressKey(parts.prefix);
  const put = { kind: 'put', key, value: new Uint8Array(0), lease: 0 } as const;
  await transactNotingFull(parts, { compare: [], success: [put], failure: [] });
}

async function toOperation({ prefix, leases }: Parts, write: Write): Promise<Operation> {
  if ('delete' in write) return { kind: 'delete', key: prefix + write.delete };
  const lease = write.ttlSeconds === undefined ? 0 : await leases.leaseFor(write.ttlSeconds);
  return { kind: 'put', key: prefix + write.put, value: write.value, lease };
}

async function* watch(
  { client, prefix, progress, end }: Parts,
  under: string,
  { afterRevision, signal }: { readonly afterRevision: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly StoreEvent[]> {
  if (signal.aborted) return;
  if (end.signal.aborted) throw closed();
  if (afterRevision < progress.compacted())
    throw compactedAway(afterRevision, progress.compacted());
  const current = await currentRevision(client, prefix).catch((error: unknown) => {
    throw end.signal.aborted ? closed() : error;
  });
  if (afterRevision > current) throw future(afterRevision);
  const until = AbortSignal.any([signal, end.signal]);
  const followed = followRange({
    ...{ client, prefix, under, afterRevision, signal: until },
  });
  for await (const { events } of followed) if (events.length > 0) yield events;
  if (!signal.aborted) throw closed();
}

const closed = (): StoreError => new StoreError('closed', 'Cannot use the store: it was closed');
const future = (revision: number): StoreError =>
  new StoreError('future', `Cannot read revision ${revision}: the store has not reached it`);
const compactedAway = (revision: number, oldest: number): StoreError =>
  new StoreError(
    'compacted',
    `Cannot read revision ${revision}: the store retains revisions from ${oldest} on`,
  );

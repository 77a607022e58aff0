// The store on an etcd cluster, which any number of API servers may share. One watch over all keys feeds the listeners;
// a transaction is answered when that watch has brought its revision, so a cache is never behind an answer.
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
import { endOfPrefix, keyAfter, placeOf, tickKey } from './key-range.ts';
import { createLeases, type Leases } from './leases.ts';
import {
  encodeProgressRequest,
  type Operation,
  type TransactionRequest,
  type TransactionResponse,
} from './messages.ts';
import { sendsProgressInOrder } from './progress.ts';
import { createRevisionProgress, type RevisionProgress } from './revision-progress.ts';
import { follow, toEntry } from './watch.ts';

export const defaultEtcdPrefix = '/fairlead';

export type EtcdStoreOptions = EtcdClientOptions & {
  /** Before every key, so that others can share the cluster. One that does not end with a slash is for keys that begin with one. */
  readonly prefix: string;
  readonly now: StoreClock['now'];
};

/** A listing is read in pages, so that no answer is very large. */
const pageEntries = 2000;

type Parts = {
  readonly client: EtcdClient;
  readonly now: () => number;
  readonly prefix: string;
  readonly leases: Leases;
  readonly heard: RevisionProgress;
  readonly catchUp: CatchUp;
  readonly progress: Progress;
  readonly end: AbortController;
  /** Whether the last write was refused for want of space. */
  isFull: boolean;
};

type Progress = {
  /** The one that is followed. */
  stream?: MemberStream;
  /** Asks the watch how far it is, where its member can be asked. */
  ask: (() => void) | undefined;
  /** How often it was asked since anything came. */
  unanswered: number;
};

/** Whoever does not answer so many questions is not asked again. */
const maxUnanswered = 3;

export async function openEtcdStore({ prefix, now, ...options }: EtcdStoreOptions): Promise<Store> {
  const client = createEtcdClient(options);
  const end = new AbortController();
  try {
    const revision = await currentRevision(client, prefix);
    const heard = createRevisionProgress(revision, await findCompacted(client, revision));
    const progress: Progress = { ask: undefined, unanswered: 0 };
    const catchUp = createCatchUp({
      heard,
      currentRevision: () => currentRevision(client, prefix),
      nudge: () => nudge(client, prefix, progress),
    });
    const leases = createLeases(client, now);
    const parts = { client, now, prefix, leases, heard, catchUp, progress, end, isFull: false };
    const following = listen(parts);
    return storeOf(parts, following);
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Where a member cannot be asked, or does not answer, a write of ours: its event tells that all before it have come. */
async function nudge(client: EtcdClient, prefix: string, progress: Progress): Promise<void> {
  if (progress.ask !== undefined && progress.unanswered < maxUnanswered) {
    progress.unanswered += 1;
    progress.ask();
    return;
  }
  const put = { kind: 'put', key: tickKey(prefix), value: new Uint8Array(0), lease: 0 } as const;
  await client.transact({ compare: [], success: [put], failure: [] });
}

function storeOf(parts: Parts, following: Promise<void>): Store {
  const { client, prefix, heard, catchUp, end } = parts;
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
    catchUp: () => guarded(catchUp.now),
    get: (key, { revision } = {}) =>
      guarded(async () => {
        const wanted = revision === undefined ? {} : { revision };
        const [found] = (await client.range({ key: prefix + key, ...wanted })).entries;
        return found && toEntry(found, prefix.length);
      }),
    list: (under, listOptions) => guarded(() => list(parts, under, listOptions ?? {})),
    transact: (transaction) => guarded(() => transact(parts, transaction)),
    watch: (under, afterRevision, signal) => watch(parts, under, { afterRevision, signal }),
    subscribe: heard.subscribe,
    currentRevision: () => guarded(() => currentRevision(client, prefix)),
    checkWrites: () =>
      guarded(async () => {
        await currentRevision(client, prefix);
        // Reads go on while etcd refuses writes for want of space: whether it still does is known by trying.
        if (parts.isFull) await tryWrite(parts);
      }),
    expiring: () => guarded(() => readExpiring(client, prefix, parts.now)),
    compactedRevision: heard.compacted,
    compact: (revision) =>
      guarded(async () => {
        if (revision <= heard.compacted()) return;
        if (revision > (await currentRevision(client, prefix))) throw future(revision);
        await compact(client, revision);
        heard.compact(revision);
      }),
    async close() {
      if (end.signal.aborted) return;
      const begun = Promise.allSettled(pending);
      // What was begun must still hear of its own revision.
      await begun;
      end.abort();
      await following;
      client.close();
    },
  };
}

/** Somebody else may have compacted as far or further: that is as good. */
async function compact(client: EtcdClient, revision: number): Promise<void> {
  try {
    await client.compact(revision);
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'compacted') throw error;
  }
}

/** Any read tells the revision; one that counts nothing is the cheapest. */
async function currentRevision(client: EtcdClient, prefix: string): Promise<number> {
  return (await client.range({ key: prefix === '' ? '\0' : prefix, isCountOnly: true })).revision;
}

/**
 * The oldest revision that can be read. etcd does not tell, so it is searched for: a few dozen small reads, once.
 * Not by a watch from revision 1, which older releases answer with nothing when nothing is compacted.
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

/** Keeps listeners in step until the end. */
async function listen(parts: Parts): Promise<void> {
  const { client, prefix, heard, progress, end } = parts;
  const { signal } = end;
  const onStream = (stream: MemberStream): void => learnToAsk(progress, stream);
  while (!signal.aborted) {
    const afterRevision = heard.revision();
    try {
      const followed = follow({ client, prefix, under: '', afterRevision, signal, onStream });
      for await (const { revision, events } of followed) {
        progress.unanswered = 0;
        heard.hear(revision, events);
      }
    } catch (error) {
      // Somebody compacted what was not yet heard, as after a long time without etcd.
      if (!(error instanceof StoreError) || error.reason !== 'compacted') {
        heard.end(error instanceof Error ? error : new Error(String(error)));
        // A listener that throws has lost its place in the stream of events: that must not go unseen.
        queueMicrotask(() => {
          throw error;
        });
        return;
      }
      await startAnew(parts);
    }
  }
  heard.end(closed());
}

function learnToAsk(progress: Progress, stream: MemberStream): void {
  progress.ask = undefined;
  progress.unanswered = 0;
  progress.stream = stream;
  stream.version().then(
    (version) => {
      // Another member may have taken its place meanwhile.
      if (progress.stream !== stream || !sendsProgressInOrder(version)) return;
      progress.ask = () => stream.send(encodeProgressRequest());
    },
    () => {
      // A member that does not say what it is is not asked; one that is gone ends the stream, too.
    },
  );
}

const retryMs = 500;

async function startAnew(parts: Parts): Promise<void> {
  while (!parts.end.signal.aborted) {
    try {
      parts.heard.replace(await list(parts, '', {}));
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
  const rangeEnd = endOfPrefix(placeOf(prefix, under));
  const entries = [];
  let { revision } = options;
  let from = after >= under && after !== '' ? prefix + keyAfter(after) : placeOf(prefix, under);
  for (;;) {
    const page = await client.range({
      key: from === '' ? '\0' : from,
      rangeEnd,
      limit: Math.min(limit - entries.length, pageEntries),
      ...(revision === undefined ? {} : { revision }),
    });
    // All pages show what the first one showed.
    revision ??= page.revision;
    const ours = page.entries.filter(({ key }) => key !== tickKey(prefix));
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
  const answer = await noteFull(parts, {
    compare: compare.map(({ key, revision }) => ({ key: prefix + key, revision })),
    success: await Promise.all(write.map((each) => toOperation(parts, each))),
    failure: compare.map(({ key }) => ({ kind: 'get', key: prefix + key })),
  });
  const { revision, hasSucceeded } = answer;
  // A transaction that only deletes may have found nothing to delete; then its revision is somebody else's.
  const isOurs = hasSucceeded && (write.some((each) => 'put' in each) || answer.deleted > 0);
  // Whoever decides anew after a failed comparison must see what made it fail.
  await (isOurs ? catchUp.toOurs(revision) : catchUp.to(revision));
  if (hasSucceeded) return { committed: true, revision };
  const failed = compare.flatMap((each, n): FailedCompare[] => {
    const found = answer.found[n];
    if ((found?.modRevision ?? 0) === each.revision) return [];
    return [{ ...each, found: found && toEntry(found, prefix.length) }];
  });
  return { committed: false, revision, failed };
}

/** Remembers whether etcd is out of space, as it says when something is written. */
async function noteFull(parts: Parts, request: TransactionRequest): Promise<TransactionResponse> {
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
  const key = tickKey(parts.prefix);
  const put = { kind: 'put', key, value: new Uint8Array(0), lease: 0 } as const;
  await noteFull(parts, { compare: [], success: [put], failure: [] });
}

async function toOperation({ prefix, leases }: Parts, write: Write): Promise<Operation> {
  if ('delete' in write) return { kind: 'delete', key: prefix + write.delete };
  const lease = write.ttlSeconds === undefined ? 0 : await leases.leaseFor(write.ttlSeconds);
  return { kind: 'put', key: prefix + write.put, value: write.value, lease };
}

async function* watch(
  { client, prefix, heard, end }: Parts,
  under: string,
  { afterRevision, signal }: { readonly afterRevision: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly StoreEvent[]> {
  if (signal.aborted) return;
  if (end.signal.aborted) throw closed();
  if (afterRevision < heard.compacted()) throw compactedAway(afterRevision, heard.compacted());
  const current = await currentRevision(client, prefix).catch((error: unknown) => {
    throw end.signal.aborted ? closed() : error;
  });
  if (afterRevision > current) throw future(afterRevision);
  const until = AbortSignal.any([signal, end.signal]);
  const followed = follow({
    ...{ client, prefix, under, afterRevision, signal: until },
  });
  for await (const { events } of followed) if (events.length > 0) yield events;
  if (!signal.aborted) throw closed();
}

const closed = (): StoreError => new StoreError('closed', 'Cannot use the store: it was closed');
const future = (revision: number): StoreError =>
  new StoreError('future', `Cannot read revision ${revision}: the store has not come to it`);
const compactedAway = (revision: number, oldest: number): StoreError =>
  new StoreError(
    'compacted',
    `Cannot read revision ${revision}: the store keeps revisions from ${oldest} on`,
  );

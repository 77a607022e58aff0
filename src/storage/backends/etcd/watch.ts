// The changes of a range of keys from a revision on, without gaps or duplicates, across failures of members.
import type { StoreEvent } from '../../store.ts';
import { StoreError } from '../../store-error.ts';
import type { EtcdClient, MemberStream } from './client.ts';
import { endOfPrefix, progressKey, rangeStart } from './key-range.ts';
import {
  decodeWatch,
  encodeWatch,
  type KeyValue,
  type WatchEvent,
  type WatchResponse,
} from './messages.ts';

export type FollowOptions = {
  readonly client: EtcdClient;
  /** Of the store; users do not see it. */
  readonly prefix: string;
  /** The prefix of the watched keys, after that. */
  readonly under: string;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
  /** Called with each stream that is opened. */
  readonly onStream?: (stream: MemberStream) => void;
};

/** Events of whole revisions; none when only the revision has advanced. */
export type Followed = { readonly revision: number; readonly events: readonly StoreEvent[] };

const firstWaitMs = 50;
const maxWaitMs = 2000;

/** Throws StoreError compacted; after any other failure it continues at the next member. Ends with the signal. */
export async function* followRange(options: FollowOptions): AsyncGenerator<Followed> {
  const { signal } = options;
  const position: Position = { revision: options.afterRevision, waitMs: firstWaitMs };
  while (!signal.aborted) {
    try {
      yield* followMember(options, position);
    } catch (error) {
      if (error instanceof StoreError && error.reason === 'compacted') throw error;
      await wait(position.waitMs, signal);
      position.waitMs = Math.min(position.waitMs * 2, maxWaitMs);
    }
  }
}

type Position = { revision: number; waitMs: number };

/** Until the member fails. */
async function* followMember(
  { client, prefix, under, signal, onStream }: FollowOptions,
  position: Position,
): AsyncGenerator<Followed> {
  const stream = await client.openWatch();
  const close = (): void => stream.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const start = rangeStart(prefix, under);
    const key = start === '' ? '\0' : start;
    const startRevision = position.revision + 1;
    stream.send(encodeWatch({ key, rangeEnd: endOfPrefix(start), startRevision }));
    onStream?.(stream);
    for await (const message of stream.responses) {
      const answer = decodeWatch(message);
      if (answer.isCancelled) throw cancelled(answer, position.revision);
      position.waitMs = firstWaitMs;
      // Its creation says nothing about the revision it has reached.
      if (answer.isCreated) continue;
      const reached = answer.events.at(-1)?.entry.modRevision ?? answer.revision;
      position.revision = Math.max(position.revision, reached);
      const events = answer.events.flatMap((event) =>
        event.entry.key === progressKey(prefix) ? [] : [toStoreEvent(event, prefix.length)],
      );
      yield { revision: position.revision, events };
    }
  } catch (error) {
    if (!signal.aborted) stream.switchMember();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
    stream.close();
  }
}

function cancelled({ compactRevision, cancelReason }: WatchResponse, revision: number): StoreError {
  return compactRevision > 0
    ? new StoreError(
        'compacted',
        `Cannot watch from revision ${revision}: the store retains revisions from ${compactRevision} on`,
      )
    : new StoreError('unavailable', `Cannot watch: ${cancelReason}`);
}

function toStoreEvent({ type, entry, previous }: WatchEvent, hidden: number): StoreEvent {
  const key = entry.key.slice(hidden);
  const previousEntry = previous === undefined ? {} : { previous: toEntry(previous, hidden) };
  return type === 'put'
    ? {
        ...{ type, key, revision: entry.modRevision, value: entry.value },
        ...{ createRevision: entry.createRevision, ...previousEntry },
      }
    : {
        ...{ type, key, revision: entry.modRevision },
        ...{ createRevision: previous?.createRevision ?? 0, ...previousEntry },
      };
}

export function toEntry({ key, value, createRevision, modRevision }: KeyValue, hidden: number) {
  return { key: key.slice(hidden), value, revision: modRevision, createRevision };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

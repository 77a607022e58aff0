// The changes of a range of keys from a revision on, without a gap or a repeat, whichever members come and go.
import type { StoreEvent } from '../../store.ts';
import { StoreError } from '../../store-error.ts';
import type { EtcdClient, MemberStream } from './client.ts';
import { endOfPrefix, placeOf, tickKey } from './key-range.ts';
import {
  decodeWatch,
  encodeWatch,
  type KeyValue,
  type WatchEvent,
  type WatchResponse,
} from './messages.ts';

export type FollowOptions = {
  readonly client: EtcdClient;
  /** The store's own, which users do not see. */
  readonly prefix: string;
  /** What the keys that are followed start with after that. */
  readonly under: string;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
  /** Called with each stream that is opened. */
  readonly onStream?: (stream: MemberStream) => void;
};

/** Events of whole revisions; empty when only the revision has moved. */
export type Followed = { readonly revision: number; readonly events: readonly StoreEvent[] };

const firstWaitMs = 50;
const maxWaitMs = 2000;

/** Throws StoreError compacted; everything else is mended by asking another member. Ends with the signal. */
export async function* follow(options: FollowOptions): AsyncGenerator<Followed> {
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

/** As long as one member answers. */
async function* followMember(
  { client, prefix, under, signal, onStream }: FollowOptions,
  position: Position,
): AsyncGenerator<Followed> {
  const stream = await client.openWatch();
  const close = (): void => stream.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const place = placeOf(prefix, under);
    const key = place === '' ? '\0' : place;
    const startRevision = position.revision + 1;
    stream.send(encodeWatch({ key, rangeEnd: endOfPrefix(place), startRevision }));
    onStream?.(stream);
    for await (const message of stream.responses) {
      const answer = decodeWatch(message);
      if (answer.isCancelled) throw cancelled(answer, position.revision);
      position.waitMs = firstWaitMs;
      // That the watch stands says nothing of how far it has come.
      if (answer.isCreated) continue;
      const reached = answer.events.at(-1)?.entry.modRevision ?? answer.revision;
      position.revision = Math.max(position.revision, reached);
      const events = answer.events.flatMap((event) =>
        event.entry.key === tickKey(prefix) ? [] : [toStoreEvent(event, prefix.length)],
      );
      yield { revision: position.revision, events };
    }
  } catch (error) {
    if (!signal.aborted) stream.leaveMember();
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
        `Cannot watch from revision ${revision}: the store keeps revisions from ${compactRevision} on`,
      )
    : new StoreError('unavailable', `Cannot watch: ${cancelReason}`);
}

function toStoreEvent({ type, entry, previous }: WatchEvent, hidden: number): StoreEvent {
  const key = entry.key.slice(hidden);
  const before = previous === undefined ? {} : { previous: toEntry(previous, hidden) };
  return type === 'put'
    ? {
        ...{ type, key, revision: entry.modRevision, value: entry.value },
        ...{ createRevision: entry.createRevision, ...before },
      }
    : {
        ...{ type, key, revision: entry.modRevision },
        ...{ createRevision: previous?.createRevision ?? 0, ...before },
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

// The changes of a range of keys from a revision on, without a gap or a repeat, whichever members come and go.
import type { StoreEvent } from '../../store.ts';
import { StoreError } from '../../store-error.ts';
import type { EtcdClient } from './client.ts';
import { endOfPrefix } from './key-range.ts';
import {
  decodeWatch,
  encodeWatch,
  type KeyValue,
  type WatchAnswer,
  type WatchEvent,
} from './messages.ts';

export type FollowOptions = {
  readonly client: EtcdClient;
  /** In etcd's words: with the store's own prefix before it. */
  readonly prefix: string;
  /** How much of a key is the store's own prefix and not for users. */
  readonly hidden: number;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
};

/** Events of whole revisions; empty when only the revision has moved. */
export type Followed = { readonly revision: number; readonly events: readonly StoreEvent[] };

const firstWaitMs = 50;
const mostWaitMs = 2000;

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
      position.waitMs = Math.min(position.waitMs * 2, mostWaitMs);
    }
  }
}

type Position = { revision: number; waitMs: number };

/** As long as one member answers. */
async function* followMember(
  { client, prefix, hidden, signal }: FollowOptions,
  position: Position,
): AsyncGenerator<Followed> {
  const stream = await client.openWatch();
  const close = (): void => stream.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const key = prefix === '' ? '\0' : prefix;
    const startRevision = position.revision + 1;
    stream.send(encodeWatch({ key, rangeEnd: endOfPrefix(prefix), startRevision }));
    for await (const message of stream.answers) {
      const answer = decodeWatch(message);
      if (answer.isCancelled) throw cancelled(answer, position.revision);
      position.waitMs = firstWaitMs;
      // That the watch stands says nothing of how far it has come.
      if (answer.isCreated) continue;
      position.revision = answer.events.at(-1)?.entry.modRevision ?? answer.revision;
      const events = answer.events.map((event) => toStoreEvent(event, hidden));
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

function cancelled({ compactRevision, cancelReason }: WatchAnswer, revision: number): StoreError {
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
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
  });
}

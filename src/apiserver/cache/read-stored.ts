// What the store holds as what the caches hold: objects, changes of objects, and what cannot be read.
import type { KubeObject } from '../../meta/object.ts';
import type { Entry, StoreEvent } from '../../storage/store.ts';
import { identityReason, isEncrypted } from '../encryption/unreadable.ts';
import type { Cached, Change, LostChange, ResourceCache } from './resource-cache.ts';
import type { Codec } from './stored-object.ts';

/** What is stored may be encrypted with a key that is not here, or be no object at all: that is told, and stops nothing else. */
export function readEntry(
  codec: Codec,
  { key, value, revision, unreadable }: Entry,
): Cached | Unread {
  const reason = unreadable ?? (isEncrypted(value) ? identityReason : undefined);
  if (reason !== undefined) return { key, revision, reason };
  try {
    return codec.fromValue(key, value, revision);
  } catch (error) {
    // The parser's own words would show a part of the value.
    if (error instanceof SyntaxError)
      return { key, revision, reason: 'the stored data is not JSON' };
    throw error;
  }
}

export type Unread = LostChange & { readonly reason: string };

export function readAll(
  codec: Codec,
  entries: readonly Entry[],
): { readonly readable: readonly Cached[]; readonly lost: readonly Unread[] } {
  const readable: Cached[] = [];
  const lost: Unread[] = [];
  for (const entry of entries) {
    const read = readEntry(codec, entry);
    if ('reason' in read) lost.push(read);
    else readable.push(read);
  }
  return { readable, lost };
}

type Stored = {
  readonly codec: Codec;
  readonly cache: Pick<ResourceCache, 'getReadable' | 'isUnreadable'>;
};

/** What an event of the store is for those who follow the resource. */
export function changeOf({ codec, cache }: Stored, event: StoreEvent): Change | LostChange {
  const { key, revision, previous: old } = event;
  const held = cache.getReadable(key);
  // What a put replaced may be compacted already; then what is held is what stood there.
  const isHeld =
    old === undefined ? event.createRevision !== revision : held?.revision === old.revision;
  const before = held !== undefined && isHeld ? held : old && readEntry(codec, old);
  const previous = before !== undefined && 'object' in before ? before : undefined;
  if (event.value === undefined) {
    if (previous !== undefined) return deletionOf(codec, previous, revision);
    if (before !== undefined || cache.isUnreadable(key)) return { key, revision };
    throw new Error(`Cannot follow the delete of "${key}": its last state is unknown`);
  }
  // At start the history ends with what is live: both share it.
  const current = held?.revision === revision ? held : currentOf(codec, event, event.value);
  if ('reason' in current) return current;
  return previous === undefined
    ? { type: 'ADDED', revision, current }
    : { type: 'MODIFIED', revision, current, previous };
}

function deletionOf(codec: Codec, previous: Cached, revision: number): Change {
  const { key, object } = previous;
  const current = codec.encode(key, codec.toValue(object), object, revision);
  return { type: 'DELETED', revision, current, previous };
}

function currentOf(codec: Codec, event: StoreEvent, value: Uint8Array): Cached | Unread {
  const { key, revision, createRevision, origin, unreadable } = event;
  return origin === undefined
    ? readEntry(codec, { key, value, revision, createRevision, unreadable })
    : codec.encode(key, value, origin as KubeObject, revision);
}

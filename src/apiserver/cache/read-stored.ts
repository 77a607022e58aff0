// Decodes entries and events of the store into what the caches hold: objects, their changes, and what cannot be read.
import type { KubeObject } from '../../meta/object.ts';
import type { Entry, StoreEvent } from '../../storage/store.ts';
import { identityReason, isEncrypted } from '../encryption/unreadable.ts';
import type { Cached, Change, ResourceCache, UnreadableChange } from './resource-cache.ts';
import type { Codec } from './stored-object.ts';

/** An entry may be encrypted with an unknown key, or be no object at all: that is reported, and does not stop the others. */
export function readEntry(
  codec: Codec,
  { key, value, revision, unreadable }: Entry,
): Cached | UnreadableEntry {
  const reason = unreadable ?? (isEncrypted(value) ? identityReason : undefined);
  if (reason !== undefined) return { key, revision, reason };
  try {
    return codec.fromValue(key, value, revision);
  } catch (error) {
    // The parser's message would show a part of the value.
    if (error instanceof SyntaxError)
      return { key, revision, reason: 'the stored data is not JSON' };
    throw error;
  }
}

export type UnreadableEntry = UnreadableChange & { readonly reason: string };

export function readEntries(
  codec: Codec,
  entries: readonly Entry[],
): { readonly readable: readonly Cached[]; readonly unreadable: readonly UnreadableEntry[] } {
  const readable: Cached[] = [];
  const unreadable: UnreadableEntry[] = [];
  for (const entry of entries) {
    const read = readEntry(codec, entry);
    if ('reason' in read) unreadable.push(read);
    else readable.push(read);
  }
  return { readable, unreadable };
}

type Stored = {
  readonly codec: Codec;
  readonly cache: Pick<ResourceCache, 'getReadable' | 'isUnreadable'>;
};

/** An event of the store as a change of the resource. */
export function changeOf({ codec, cache }: Stored, event: StoreEvent): Change | UnreadableChange {
  const { key, revision, previous: stored } = event;
  const cached = cache.getReadable(key);
  // The previous value of a put may be compacted already; then the cached object is it.
  const isPrevious =
    stored === undefined ? event.createRevision !== revision : cached?.revision === stored.revision;
  const before = cached !== undefined && isPrevious ? cached : stored && readEntry(codec, stored);
  const previous = before !== undefined && 'object' in before ? before : undefined;
  if (event.value === undefined) {
    if (previous !== undefined) return deletionOf(codec, previous, revision);
    if (before !== undefined || cache.isUnreadable(key)) return { key, revision };
    throw new Error(`Cannot follow the delete of "${key}": its last state is unknown`);
  }
  // At start the history ends with the live objects: both share them.
  const current = cached?.revision === revision ? cached : currentOf(codec, event, event.value);
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

function currentOf(codec: Codec, event: StoreEvent, value: Uint8Array): Cached | UnreadableEntry {
  const { key, revision, createRevision, origin, unreadable } = event;
  return origin === undefined
    ? readEntry(codec, { key, value, revision, createRevision, unreadable })
    : codec.encode(key, value, origin as KubeObject, revision);
}

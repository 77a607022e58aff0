// Wraps a store and encrypts its values. Keys are not encrypted: they contain no secrets and must sort.
import type { Entry, Listing, Store, StoreEvent, Write } from '../../storage/store.ts';
import { registryPrefix, resourceOfKey } from '../cache/stored-object.ts';
import type { Opened, Transformer, Transformers } from './transformer.ts';
import { Unreadable } from './unreadable.ts';

export type EncryptStoreOptions = {
  /** Those of now: an encryption configuration that is read again exchanges them. */
  readonly transformers: () => Transformers;
  /** What stands before each key in the store below: a value is bound to its whole path, as upstream. */
  readonly pathPrefix: string;
  readonly measure?: Measure;
};

export type Measure = (type: 'to_storage' | 'from_storage', isReadable: boolean) => void;

export function encryptStore(store: Store, options: EncryptStoreOptions): Store {
  const { seal, openValue, openEntry, openEvent } = createSeal(options);
  const openListing = (listing: Listing): Listing => ({
    ...listing,
    entries: listing.entries.map(openEntry),
  });

  return {
    ...store,
    async get(key, options) {
      const entry = await store.get(key, options);
      return entry && openEntry(entry);
    },
    list: async (prefix, options) => openListing(await store.list(prefix, options)),
    async transact({ compare, write }) {
      const outcome = await store.transact({ compare, write: write.map(seal) });
      if (outcome.committed) return outcome;
      const failed = outcome.failed.map(({ found, ...rest }) => ({
        ...rest,
        found: found && openEntry(found),
      }));
      return { ...outcome, failed };
    },
    async *watch(prefix, afterRevision, signal) {
      for await (const events of store.watch(prefix, afterRevision, signal))
        yield events.map(openEvent);
    },
    subscribe: (listener, callbacks) =>
      store.subscribe(
        (events) => listener(events.map(openEvent)),
        callbacks && {
          ...callbacks,
          ...(callbacks.missed === undefined
            ? {}
            : { missed: (everything: Listing) => callbacks.missed?.(openListing(everything)) }),
        },
      ),
    async isStale(key) {
      const entry = await store.get(key);
      const opened = entry && openValue(key, entry.value);
      return opened !== undefined && 'isStale' in opened && opened.isStale;
    },
  };
}

type Seal = {
  readonly seal: (write: Write) => Write;
  readonly openValue: (key: string, value: Uint8Array) => Opened | Unreadable;
  readonly openEntry: (entry: Entry) => Entry;
  readonly openEvent: (event: StoreEvent) => StoreEvent;
};

function createSeal({ transformers, pathPrefix, measure }: EncryptStoreOptions): Seal {
  /** Values that were just written: listeners get these bytes, without decryption. */
  const plainOf = new WeakMap<Uint8Array, Uint8Array>();

  const transformerOf = (key: string): Transformer | undefined =>
    key.startsWith(registryPrefix) ? transformers()(resourceOfKey(key)) : undefined;

  function seal(write: Write): Write {
    if (!('put' in write)) return write;
    const sealValue = transformerOf(write.put)?.seal;
    if (sealValue === undefined) return write;
    const value = sealValue(write.value, pathPrefix + write.put);
    plainOf.set(value, write.value);
    measure?.('to_storage', true);
    return { ...write, value };
  }

  function openValue(key: string, value: Uint8Array): Opened | Unreadable {
    try {
      const opened = transformerOf(key)?.open(value, pathPrefix + key);
      if (opened === undefined) return { value, isStale: false };
      if (opened.value !== value) measure?.('from_storage', true);
      return opened;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      measure?.('from_storage', false);
      return error;
    }
  }

  function openEntry(entry: Entry): Entry {
    const opened = openValue(entry.key, entry.value);
    if (opened instanceof Unreadable) return { ...entry, unreadable: opened.message };
    return opened.value === entry.value ? entry : { ...entry, value: opened.value };
  }

  function openEvent(event: StoreEvent): StoreEvent {
    const { key, value, previous } = event;
    const before = previous && openLazily(previous, openEntry);
    const replaced = before === undefined ? {} : { previous: before };
    if (value === undefined) return { ...event, ...replaced };
    const plain = plainOf.get(value);
    const opened = plain === undefined ? openValue(key, value) : { value: plain };
    return opened instanceof Unreadable
      ? { ...event, ...replaced, unreadable: opened.message }
      : { ...event, ...replaced, value: opened.value };
  }

  return { seal, openValue, openEntry, openEvent };
}

/** Decrypts the previous value of an event on first access. */
function openLazily(entry: Entry, openEntry: Seal['openEntry']): Entry {
  const { key, revision, createRevision } = entry;
  let opened: Entry | undefined;
  const open = (): Entry => {
    opened ??= openEntry({ key, revision, createRevision, value: entry.value });
    return opened;
  };
  return {
    ...{ key, revision, createRevision },
    get value() {
      return open().value;
    },
    get unreadable() {
      return open().unreadable;
    },
  };
}

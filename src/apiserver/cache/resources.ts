// All resources that are served, with the caches of those that are stored. The caches are exactly in step with
// the store: it hands over every committed batch before the transactions resolve. With other writers, the
// store catches up before a request is handled (`catchUp` in handle.ts).

import type { AnyKind, ClusterFacts } from '../../kinds/definition.ts';
import { groupResource, type KubeObject } from '../../meta/object.ts';
import { listPages } from '../../storage/list-pages.ts';
import type { Entry, Listing, Store, StoreEvent } from '../../storage/store.ts';
import { isStoreError } from '../../storage/store-error.ts';
import type { ObjectReader } from './object-reader.ts';
import { changeOf, readEntries, readEntry } from './read-stored.ts';
import {
  type Cached,
  type Change,
  createResourceCache,
  type ResourceCache,
  type UnreadableChange,
  type UnreadableObject,
} from './resource-cache.ts';
import { type Codec, createCodec, registryPrefix, resourceOfKey } from './stored-object.ts';

export type Resource = {
  readonly definition: AnyKind;
  readonly codec: Codec;
  readonly cache: ResourceCache;
  /** Stored form to served form; the same object unless another resource stores the kind. */
  readonly view: (cached: Cached) => Cached;
};

export type Resources = {
  readonly all: readonly Resource[];
  readonly definitions: readonly AnyKind[];
  readonly find: (group: string, version: string, plural: string) => Resource | undefined;
  /** By `services` or `endpointslices.discovery.k8s.io`. */
  readonly of: (groupResource: string) => Resource;
  readonly reader: ObjectReader;
  /** The newest revision that the caches show. */
  readonly revision: () => number;
  /** Watches from an earlier revision than now are too old from here on. */
  readonly forgetHistory: () => void;
  /** Resolves once the caches show this revision, or the signal ends the wait; says whether they do. */
  readonly caughtUp: (revision: number, signal?: AbortSignal) => Promise<boolean>;
  /** Stored objects of all resources that cannot be read. */
  readonly unreadable: () => readonly UnreadableObject[];
  /** Reads those again, as after a change of encryption keys. */
  readonly rereadUnreadable: () => Promise<void>;
};

/** How much of the store's log is read back at start so that watches can resume across a restart. */
const replayedRevisions = 20_000;

export async function loadResources(
  definitions: readonly AnyKind[],
  store: Store,
  onStoreEvents: (events: readonly StoreEvent[]) => void = () => {},
  onMissed: (everything: Listing) => void = () => {},
  cluster?: ClusterFacts,
): Promise<Resources> {
  const stored = new Map(
    definitions
      .filter((d) => d.storedAs === undefined)
      .map((d) => [resourceName(d), storedResource(d, cluster)]),
  );
  const all = definitions.map((d) => stored.get(resourceName(d)) ?? viewResource(d, stored));
  const waiting = new Set<{ revision: number; resolve: () => void }>();
  let revision = 0;

  function toChange(event: StoreEvent): [Resource, Change | UnreadableChange] | undefined {
    const resource = stored.get(resourceOfKey(event.key));
    return resource === undefined ? undefined : [resource, changeOf(resource, event)];
  }

  function applyBatch(events: readonly StoreEvent[]): void {
    onStoreEvents(events);
    for (const event of events) {
      revision = event.revision;
      const found = toChange(event);
      if (found !== undefined) applyChange(...found);
    }
    wake();
  }

  function wake(): void {
    for (const waiter of waiting) {
      if (waiter.revision > revision) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
  }

  function reached(to: number): void {
    revision = Math.max(revision, to);
    wake();
  }

  function missed(everything: Listing): void {
    onMissed(everything);
    const grouped = byResource(everything.entries);
    for (const [name, { cache, codec }] of stored) {
      const { readable, unreadable } = readEntries(codec, grouped.get(name) ?? []);
      cache.replace(readable, everything.revision);
      for (const one of unreadable) cache.applyUnreadable(one);
    }
    reached(everything.revision);
  }

  const filled = await fill({ store, stored, applyBatch, toChange, reached, missed });
  revision = Math.max(revision, filled);

  const byPath = new Map(all.map((r) => [pathKey(r.definition), r]));
  return {
    all,
    definitions: all.map((r) => r.definition),
    find: (group, version, plural) => byPath.get(pathKey({ group, version, plural })),
    of(name) {
      const resource = stored.get(name);
      if (resource === undefined)
        throw new Error(`Cannot find resource "${name}": it is not served`);
      return resource;
    },
    reader: createReader(stored),
    revision: () => revision,
    forgetHistory() {
      for (const { cache } of stored.values()) cache.forgetBefore(revision);
    },
    caughtUp: (wanted, signal) =>
      wanted <= revision
        ? Promise.resolve(true)
        : new Promise((resolve) => {
            // An aborted signal fires no event.
            if (signal?.aborted) return resolve(false);
            const waiter = { revision: wanted, resolve: () => resolve(true) };
            waiting.add(waiter);
            signal?.addEventListener('abort', () => resolve(!waiting.delete(waiter)));
          }),
    unreadable: () => [...stored.values()].flatMap(({ cache }) => cache.unreadable()),
    rereadUnreadable: () => reread(store, stored.values(), () => revision),
  };
}

async function reread(
  store: Store,
  resources: Iterable<Resource>,
  revision: () => number,
): Promise<void> {
  for (const { cache, codec } of resources) {
    for (const { key } of cache.unreadable()) {
      const entry = await store.get(key);
      const read = entry && readEntry(codec, entry);
      if (read !== undefined && 'object' in read) cache.restore(read, revision());
    }
  }
}

function addToHistory({ cache }: Resource, change: Change | UnreadableChange): void {
  if ('current' in change) cache.addHistory(change);
  // Written with a key that is deleted by now: earlier changes cannot be replayed without a gap.
  else cache.forgetBefore(change.revision);
}

function applyChange({ cache }: Resource, change: Change | UnreadableChange): void {
  if ('current' in change) cache.apply(change);
  else cache.applyUnreadable(change);
}

export const pathKey = (d: Pick<AnyKind, 'group' | 'version' | 'plural'>): string =>
  `${d.group}/${d.version}/${d.plural}`;

const resourceName = (d: AnyKind): string => groupResource(d.group, d.plural);

function storedResource(definition: AnyKind, cluster: ClusterFacts | undefined): Resource {
  const view = (cached: Cached): Cached => cached;
  const codec = createCodec(definition, cluster);
  return { definition, codec, cache: createResourceCache(), view };
}

/** A view has no objects of its own, but those of the resource that stores them. */
function viewResource(definition: AnyKind, stored: ReadonlyMap<string, Resource>): Resource {
  const { storedAs } = definition;
  const storing = storedAs && stored.get(groupResource(storedAs.group, storedAs.plural));
  if (storing === undefined) {
    throw new Error(`Cannot serve "${definition.plural}": the resource that stores it is missing`);
  }
  const { codec, cache } = storing;
  return { definition, codec, cache, view: createView(definition, storedAs?.fromStored) };
}

function createView(
  definition: AnyKind,
  fromStored: (stored: KubeObject) => KubeObject = (stored) => stored,
): (cached: Cached) => Cached {
  const codec = createCodec(definition);
  const views = new WeakMap<Cached, Cached>();
  return (cached) => {
    let view = views.get(cached);
    if (view === undefined) {
      const object = fromStored(cached.object);
      view = codec.encode(cached.key, codec.toValue(object), object, cached.revision);
      views.set(cached, view);
    }
    return view;
  };
}

type Filling = {
  readonly store: Store;
  readonly stored: ReadonlyMap<string, Resource>;
  readonly applyBatch: (events: readonly StoreEvent[]) => void;
  readonly toChange: (event: StoreEvent) => [Resource, Change | UnreadableChange] | undefined;
  readonly reached: (revision: number) => void;
  readonly missed: (everything: Listing) => void;
};

/** Reads everything at one revision and the history before it, and continues from there without a gap. */
async function fill(filling: Filling): Promise<number> {
  const { store, stored, applyBatch, toChange, reached, missed: onMissed } = filling;
  let pending: StoreEvent[] | undefined = [];
  let listing: Listing | undefined;
  store.subscribe(
    (events) => {
      if (pending === undefined) applyBatch(events);
      else pending.push(...events);
    },
    {
      reached(to) {
        if (pending === undefined) reached(to);
      },
      missed(everything) {
        if (pending === undefined) onMissed(everything);
        else listing = everything;
      },
    },
  );
  const revision = await load(store, stored);
  // Before the changes that arrived meanwhile: a history must be in order.
  await replay(store, revision, stored, toChange).catch((error: unknown) => {
    if (!isStoreError(error, 'compacted')) throw error;
    // Another server compacted meanwhile: this one starts without a history.
    for (const { cache } of stored.values()) cache.forgetBefore(revision);
  });
  if (listing !== undefined) onMissed(listing);
  const shown = Math.max(revision, listing?.revision ?? 0);
  const missed = pending.filter((event) => event.revision > shown);
  pending = undefined;
  if (missed.length > 0) applyBatch(missed);
  return Math.max(shown, missed.at(-1)?.revision ?? 0);
}

/** All entries at once would be in memory twice, and V8 rarely returns such memory. */
const pageEntries = 1000;

/** Reads page by page, all as of the revision that the first one shows. */
async function load(store: Store, stored: ReadonlyMap<string, Resource>): Promise<number> {
  let shown = 0;
  for await (const { entries, revision } of listPages(store, registryPrefix, {
    limit: pageEntries,
  })) {
    shown = revision;
    for (const [name, group] of byResource(entries)) {
      const resource = stored.get(name);
      if (resource === undefined) continue;
      const { readable, unreadable } = readEntries(resource.codec, group);
      resource.cache.load(readable);
      for (const one of unreadable) resource.cache.applyUnreadable(one);
    }
  }
  return shown;
}

function byResource(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const grouped = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = resourceOfKey(entry.key);
    const group = grouped.get(name);
    if (group === undefined) grouped.set(name, [entry]);
    else group.push(entry);
  }
  return grouped;
}

/** Written where the newest revision may be another program's: its event marks the end of the replay. */
const startKey = '/start';

async function writeStartMarker(store: Store): Promise<void> {
  if (store.isSoleWriter) return;
  await store.transact({ compare: [], write: [{ put: startKey, value: new Uint8Array(0) }] });
}

/** Puts the store's recent log into the caches' histories. */
async function replay(
  store: Store,
  revision: number,
  stored: ReadonlyMap<string, Resource>,
  toChange: (event: StoreEvent) => [Resource, Change | UnreadableChange] | undefined,
): Promise<void> {
  const from = Math.max(store.compactedRevision(), revision - replayedRevisions);
  for (const { cache } of stored.values()) cache.forgetBefore(from);
  if (from >= revision) return;
  const end = new AbortController();
  await writeStartMarker(store);
  // All keys of all writers: the replay ends with the revision that was loaded.
  for await (const events of store.watch('', from, end.signal)) {
    for (const event of events) {
      const isReplayed = event.revision <= revision && event.key.startsWith(registryPrefix);
      const found = isReplayed ? toChange(event) : undefined;
      if (found !== undefined) addToHistory(...found);
    }
    if ((events.at(-1)?.revision ?? 0) >= revision) break;
  }
  end.abort();
}

function createReader(stored: ReadonlyMap<string, Resource>): ObjectReader {
  return {
    get(name, namespace, objectName) {
      const resource = stored.get(name);
      return resource?.cache.getReadable(resource.codec.key(namespace, objectName))?.object;
    },
    list(name, namespace) {
      const resource = stored.get(name);
      if (resource === undefined) return [];
      const { codec, cache } = resource;
      const prefix = namespace === undefined ? codec.prefix : codec.key(namespace, '');
      return cache.listReadable(prefix).map((cached) => cached.object);
    },
    revision: (name) => stored.get(name)?.cache.lastChange() ?? 0,
  };
}

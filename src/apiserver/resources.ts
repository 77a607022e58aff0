// All resources that are served, with the caches of those that are stored. The caches are exactly in step with
// the store: it hands over every committed batch before the writers get their answer.
import type { AnyKind } from '../kinds/definition.ts';
import { groupResource, type KubeObject } from '../meta/object.ts';
import type { Entry, Store, StoreEvent } from '../storage/store.ts';
import type { ObjectReader } from './object-reader.ts';
import {
  type Cached,
  type Change,
  createResourceCache,
  type ResourceCache,
} from './resource-cache.ts';
import { type Codec, createCodec, registryPrefix, resourceOfKey } from './stored-object.ts';

export type Resource = {
  readonly definition: AnyKind;
  readonly codec: Codec;
  readonly cache: ResourceCache;
  /** Stored form to served form; the same object where the kind is its own store. */
  readonly view: (cached: Cached) => Cached;
};

export type Resources = {
  readonly all: readonly Resource[];
  readonly find: (group: string, version: string, plural: string) => Resource | undefined;
  /** By `services` or `endpointslices.discovery.k8s.io`. */
  readonly of: (groupResource: string) => Resource;
  readonly reader: ObjectReader;
  /** The newest revision that the caches show. */
  readonly revision: () => number;
  /** Keeps the decoded object of a value about to be written, so that it need not be parsed again. */
  readonly expect: (value: Uint8Array, object: KubeObject) => void;
  /** Watches from before now are too old from here on. */
  readonly forgetHistory: () => void;
  /** Resolves once the caches show this revision. */
  readonly caughtUp: (revision: number) => Promise<void>;
};

/** How much of the store's log is read back at start so that watches can resume across a restart. */
const replayedRevisions = 20_000;

export async function loadResources(
  definitions: readonly AnyKind[],
  store: Store,
  onStoreEvents: (events: readonly StoreEvent[]) => void = () => {},
): Promise<Resources> {
  const stored = new Map(
    definitions
      .filter((d) => d.storedAs === undefined)
      .map((d) => [resourceName(d), storedResource(d)]),
  );
  const all = definitions.map((d) => stored.get(resourceName(d)) ?? viewResource(d, stored));
  const decoded = new WeakMap<Uint8Array, KubeObject>();
  const waiting = new Set<{ revision: number; resolve: () => void }>();
  let revision = 0;

  function toChange(event: StoreEvent): [Resource, Change] | undefined {
    const resource = stored.get(resourceOfKey(event.key));
    return resource === undefined ? undefined : [resource, changeOf(resource, event, decoded)];
  }

  function applyBatch(events: readonly StoreEvent[]): void {
    onStoreEvents(events);
    for (const event of events) {
      revision = event.revision;
      const found = toChange(event);
      if (found !== undefined) found[0].cache.apply(found[1]);
    }
    for (const waiter of waiting) {
      if (waiter.revision > revision) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
  }

  revision = await fill(store, stored, applyBatch);
  await replay(store, revision, stored, toChange);

  const byPath = new Map(all.map((r) => [pathKey(r.definition), r]));
  return {
    all,
    find: (group, version, plural) => byPath.get(`${group}/${version}/${plural}`),
    of(name) {
      const resource = stored.get(name);
      if (resource === undefined)
        throw new Error(`Cannot find resource "${name}": it is not served`);
      return resource;
    },
    reader: createReader(stored),
    revision: () => revision,
    expect: (value, object) => decoded.set(value, object),
    forgetHistory() {
      for (const { cache } of stored.values()) cache.forgetBefore(revision);
    },
    caughtUp: (wanted) =>
      wanted <= revision
        ? Promise.resolve()
        : new Promise((resolve) => waiting.add({ revision: wanted, resolve })),
  };
}

const pathKey = (d: AnyKind): string => `${d.group}/${d.version}/${d.plural}`;

const resourceName = (d: AnyKind): string => groupResource(d.group, d.plural);

function storedResource(definition: AnyKind): Resource {
  const view = (cached: Cached): Cached => cached;
  return { definition, codec: createCodec(definition), cache: createResourceCache(), view };
}

/** A view has no objects of its own: it shows those of the resource that stores them. */
function viewResource(definition: AnyKind, stored: ReadonlyMap<string, Resource>): Resource {
  const { storedAs } = definition;
  const owner = storedAs && stored.get(groupResource(storedAs.group, storedAs.plural));
  if (owner === undefined) {
    throw new Error(`Cannot serve "${definition.plural}": the resource that stores it is missing`);
  }
  const { codec, cache } = owner;
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

/** Reads everything at one revision and goes on from there without a gap. */
async function fill(
  store: Store,
  stored: ReadonlyMap<string, Resource>,
  applyBatch: (events: readonly StoreEvent[]) => void,
): Promise<number> {
  let early: StoreEvent[] | undefined = [];
  store.subscribe((events) => {
    if (early === undefined) applyBatch(events);
    else early.push(...events);
  });
  const { entries, revision } = await store.list(registryPrefix);
  const grouped = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = resourceOfKey(entry.key);
    const group = grouped.get(name);
    if (group === undefined) grouped.set(name, [entry]);
    else group.push(entry);
  }
  for (const [name, group] of grouped) {
    const resource = stored.get(name);
    resource?.cache.load(group.map((e) => resource.codec.fromValue(e.key, e.value, e.revision)));
  }
  const missed = early.filter((event) => event.revision > revision);
  early = undefined;
  if (missed.length > 0) applyBatch(missed);
  return Math.max(revision, missed.at(-1)?.revision ?? 0);
}

/** Puts the store's recent log into the caches' histories. */
async function replay(
  store: Store,
  revision: number,
  stored: ReadonlyMap<string, Resource>,
  toChange: (event: StoreEvent) => [Resource, Change] | undefined,
): Promise<void> {
  const from = Math.max(store.compactedRevision(), revision - replayedRevisions);
  for (const { cache } of stored.values()) cache.forgetBefore(from);
  if (from >= revision) return;
  const end = new AbortController();
  for await (const events of store.watch(registryPrefix, from, end.signal)) {
    for (const event of events) {
      const found = event.revision > revision ? undefined : toChange(event);
      if (found !== undefined) found[0].cache.remember(found[1]);
    }
    if ((events.at(-1)?.revision ?? 0) >= revision) break;
  }
  end.abort();
}

function changeOf(
  { codec, cache }: Resource,
  event: StoreEvent,
  decoded: WeakMap<Uint8Array, KubeObject>,
): Change {
  const { key, revision, previous: old } = event;
  const held = cache.get(key);
  const previous =
    held !== undefined && held.revision === old?.revision
      ? held
      : old && codec.fromValue(key, old.value, old.revision);
  if (event.value === undefined) {
    if (previous === undefined)
      throw new Error(`Cannot follow the delete of "${key}": its last state is unknown`);
    const { object } = previous;
    const current = codec.encode(key, codec.toValue(object), object, revision);
    return { type: 'DELETED', revision, current, previous };
  }
  const object = decoded.get(event.value);
  const current =
    object === undefined
      ? codec.fromValue(key, event.value, revision)
      : codec.encode(key, event.value, object, revision);
  return previous === undefined
    ? { type: 'ADDED', revision, current }
    : { type: 'MODIFIED', revision, current, previous };
}

function createReader(stored: ReadonlyMap<string, Resource>): ObjectReader {
  return {
    get(name, namespace, objectName) {
      const resource = stored.get(name);
      return resource?.cache.get(resource.codec.key(namespace, objectName))?.object;
    },
    list(name, namespace) {
      const resource = stored.get(name);
      if (resource === undefined) return [];
      const { codec, cache } = resource;
      const prefix = namespace === undefined ? codec.prefix : codec.key(namespace, '');
      return cache.list(prefix).map((cached) => cached.object);
    },
    revision: (name) => stored.get(name)?.cache.lastChange() ?? 0,
  };
}

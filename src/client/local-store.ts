// An in-memory store of objects with indexes, as client-go's Indexer.
import { type KubeObject, objectKey } from '../meta/object.ts';

/** Returns the values under which an object is indexed: none, one or several. */
export type IndexFunction<T> = (object: T) => readonly string[];
export type Indexes<T> = Readonly<Record<string, IndexFunction<T>>>;

/** The read-only view. Objects are shared: never change them. */
export type ObjectView<T extends KubeObject> = {
  /** By `namespace/name`, or the bare name of a cluster-wide object. */
  readonly get: (key: string) => T | undefined;
  readonly has: (key: string) => boolean;
  readonly values: () => IterableIterator<T>;
  readonly keys: () => IterableIterator<string>;
  readonly size: () => number;
  /** The objects with the value in the index, in no particular order. */
  readonly select: (index: string, value: string) => readonly T[];
  /** The number of objects with the value in the index. */
  readonly count: (index: string, value: string) => number;
};

export type LocalStore<T extends KubeObject> = ObjectView<T> & {
  /** Stores the object; returns the one it replaced. */
  readonly set: (object: T) => T | undefined;
  readonly remove: (key: string) => T | undefined;
  /** Adds an index over present and future objects. Throws when the name is in use with another function. */
  readonly addIndex: (name: string, index: IndexFunction<T>) => void;
};

export function createLocalStore<T extends KubeObject>(indexes: Indexes<T> = {}): LocalStore<T> {
  const objects = new Map<string, T>();
  const indexesByName = new Map<string, Index<T>>();
  const addIndex = (name: string, values: IndexFunction<T>): void => {
    const known = indexesByName.get(name);
    if (known?.values === values) return;
    if (known !== undefined)
      throw new Error(`Cannot add index "${name}": it exists with another function`);
    const index = { values, keys: new Map<string, Set<string>>() };
    indexesByName.set(name, index);
    for (const [key, object] of objects) addToIndex(index, key, object);
  };
  for (const [name, values] of Object.entries(indexes)) addIndex(name, values);
  return {
    get: (key) => objects.get(key),
    has: (key) => objects.has(key),
    values: () => objects.values(),
    keys: () => objects.keys(),
    size: () => objects.size,
    select(name, value) {
      const found: T[] = [];
      for (const key of indexNamed(indexesByName, name).keys.get(value) ?? []) {
        const object = objects.get(key);
        if (object !== undefined) found.push(object);
      }
      return found;
    },
    count: (name, value) => indexNamed(indexesByName, name).keys.get(value)?.size ?? 0,
    set(object) {
      const key = objectKey(object.metadata);
      const before = objects.get(key);
      objects.set(key, object);
      for (const index of indexesByName.values()) reindex(index, key, before, object);
      return before;
    },
    remove(key) {
      const before = objects.get(key);
      if (before === undefined) return undefined;
      objects.delete(key);
      for (const index of indexesByName.values()) removeFromIndex(index, key, before);
      return before;
    },
    addIndex,
  };
}

type Index<T> = { readonly values: IndexFunction<T>; readonly keys: Map<string, Set<string>> };

function indexNamed<T>(indexesByName: ReadonlyMap<string, Index<T>>, name: string): Index<T> {
  const index = indexesByName.get(name);
  if (index === undefined)
    throw new Error(`Cannot select by "${name}": the store has no such index`);
  return index;
}

function reindex<T>(index: Index<T>, key: string, before: T | undefined, after: T): void {
  if (before !== undefined) removeFromIndex(index, key, before);
  addToIndex(index, key, after);
}

function addToIndex<T>({ values, keys }: Index<T>, key: string, object: T): void {
  for (const value of values(object)) {
    const indexesByName = keys.get(value);
    if (indexesByName === undefined) keys.set(value, new Set([key]));
    else indexesByName.add(key);
  }
}

function removeFromIndex<T>({ values, keys }: Index<T>, key: string, object: T): void {
  for (const value of values(object)) {
    const indexesByName = keys.get(value);
    indexesByName?.delete(key);
    if (indexesByName?.size === 0) keys.delete(value);
  }
}

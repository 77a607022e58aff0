// A copy of objects in memory, found by key or by what an index says of them.
import { type KubeObject, objectKey } from '../meta/object.ts';

/** What an index files an object under; none, one or several values. */
export type IndexFunction<T> = (object: T) => readonly string[];
export type Indexes<T> = Readonly<Record<string, IndexFunction<T>>>;

/** What readers see. Objects are shared: never change them. */
export type ObjectView<T extends KubeObject> = {
  /** By `namespace/name`, or the bare name of a cluster-wide object. */
  readonly get: (key: string) => T | undefined;
  readonly has: (key: string) => boolean;
  readonly values: () => IterableIterator<T>;
  readonly keys: () => IterableIterator<string>;
  readonly size: () => number;
  /** The objects that the index files under the value, in no particular order. */
  readonly select: (index: string, value: string) => readonly T[];
  /** How many objects the index files under the value. */
  readonly count: (index: string, value: string) => number;
};

export type LocalStore<T extends KubeObject> = ObjectView<T> & {
  /** Puts the object in; returns the one it replaced. */
  readonly set: (object: T) => T | undefined;
  readonly remove: (key: string) => T | undefined;
  /** Adds an index over what is there and what comes. Throws when the name is taken by another function. */
  readonly addIndex: (name: string, index: IndexFunction<T>) => void;
};

export function createLocalStore<T extends KubeObject>(indexes: Indexes<T> = {}): LocalStore<T> {
  const objects = new Map<string, T>();
  const filed = new Map<string, Index<T>>();
  const addIndex = (name: string, values: IndexFunction<T>): void => {
    const known = filed.get(name);
    if (known?.values === values) return;
    if (known !== undefined)
      throw new Error(`Cannot add index "${name}": it exists with another function`);
    const index = { values, keys: new Map<string, Set<string>>() };
    filed.set(name, index);
    for (const [key, object] of objects) file(index, key, object);
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
      for (const key of indexNamed(filed, name).keys.get(value) ?? []) {
        const object = objects.get(key);
        if (object !== undefined) found.push(object);
      }
      return found;
    },
    count: (name, value) => indexNamed(filed, name).keys.get(value)?.size ?? 0,
    set(object) {
      const key = objectKey(object.metadata);
      const before = objects.get(key);
      objects.set(key, object);
      for (const index of filed.values()) refile(index, key, before, object);
      return before;
    },
    remove(key) {
      const before = objects.get(key);
      if (before === undefined) return undefined;
      objects.delete(key);
      for (const index of filed.values()) unfile(index, key, before);
      return before;
    },
    addIndex,
  };
}

type Index<T> = { readonly values: IndexFunction<T>; readonly keys: Map<string, Set<string>> };

function indexNamed<T>(filed: ReadonlyMap<string, Index<T>>, name: string): Index<T> {
  const index = filed.get(name);
  if (index === undefined)
    throw new Error(`Cannot select by "${name}": the store has no such index`);
  return index;
}

function refile<T>(index: Index<T>, key: string, before: T | undefined, after: T): void {
  if (before !== undefined) unfile(index, key, before);
  file(index, key, after);
}

function file<T>({ values, keys }: Index<T>, key: string, object: T): void {
  for (const value of values(object)) {
    const filed = keys.get(value);
    if (filed === undefined) keys.set(value, new Set([key]));
    else filed.add(key);
  }
}

function unfile<T>({ values, keys }: Index<T>, key: string, object: T): void {
  for (const value of values(object)) {
    const filed = keys.get(value);
    filed?.delete(key);
    if (filed?.size === 0) keys.delete(value);
  }
}

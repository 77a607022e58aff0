// Objects by name and by what else a settling cluster looks them up, such as their controller. Later changes show at once.
import { type KubeObject, objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';

export type ObjectTable<T extends KubeObject> = {
  readonly get: (key: string) => T | undefined;
  /** A replaced object stays where it is in the order. */
  readonly put: (object: T) => void;
  readonly remove: (key: string) => void;
  readonly all: () => readonly T[];
  /** The same list until one of its objects changes. */
  readonly select: (value: string) => readonly T[];
};

/** What an object is found under: any number of values. */
export type ValuesOf<T> = (object: T) => readonly string[];

type Group<T> = { readonly objects: Map<string, T>; list?: readonly T[] | undefined };

const none: readonly never[] = [];

export function createObjectTable<T extends KubeObject>(
  start: readonly T[],
  valuesOf: ValuesOf<T>,
): ObjectTable<T> {
  const byKey = new Map<string, T>();
  const groups = new Map<string, Group<T>>();
  const file = (key: string, object: T): void => {
    for (const value of valuesOf(object)) {
      const group = groups.get(value);
      if (group === undefined) groups.set(value, { objects: new Map([[key, object]]) });
      else {
        group.objects.set(key, object);
        group.list = undefined;
      }
    }
  };
  const unfile = (key: string, object: T, except: readonly string[]): void => {
    for (const value of valuesOf(object)) {
      const group = groups.get(value);
      if (group === undefined || except.includes(value)) continue;
      group.objects.delete(key);
      group.list = undefined;
    }
  };
  const put = (object: T): void => {
    const key = objectKey(object.metadata);
    const before = byKey.get(key);
    if (before !== undefined) unfile(key, before, valuesOf(object));
    byKey.set(key, object);
    file(key, object);
  };
  for (const object of start) put(object);
  return {
    get: (key) => byKey.get(key),
    put,
    remove(key) {
      const before = byKey.get(key);
      if (before === undefined) return;
      byKey.delete(key);
      unfile(key, before, none);
    },
    all: () => [...byKey.values()],
    select(value) {
      const group = groups.get(value);
      if (group === undefined) return none;
      group.list ??= [...group.objects.values()];
      return group.list;
    },
  };
}

/** Value of the objects that a controller with this uid has. */
export const controlledBy = (uid: string): string => `controller ${uid}`;
/** Value of the objects of a namespace that have no controller. */
export const orphansIn = (namespace: string): string => `orphans in ${namespace}`;

export const byController: ValuesOf<KubeObject> = (object) => {
  const uid = controllerOf(object)?.uid;
  return [uid ? controlledBy(uid) : orphansIn(object.metadata.namespace ?? '')];
};

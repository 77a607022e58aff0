// What we wrote ourselves and the informer may not have told yet. Who decides from the informer alone right after a
// write decides on old state, and makes a second object where one is wanted. Here the own writes lie over the
// informer's copy until it has caught up, and are told apart from what others do.
import type { Clock } from '../host/clock.ts';
import type { KubeObject } from '../meta/object.ts';
import type { ChangeHandler } from './informer.ts';

export type Expectations<T extends KubeObject> = {
  /** The objects of a key as the informer has them, with what was written since. */
  readonly over: (key: string, cached: readonly T[]) => readonly T[];
  /**
   * Work on a key; all writes belong inside. Their changes often arrive before their answers, so what arrives
   * meanwhile is judged at the end.
   */
  readonly during: <R>(key: string, work: (notes: WriteNotes<T>) => Promise<R>) => Promise<R>;
  /** For the informer. */
  readonly handler: ChangeHandler<T>;
  readonly forget: (key: string) => void;
};

export type WriteNotes<T> = {
  /** Takes what the server answered to a create or an update. */
  readonly wrote: (object: T) => void;
  readonly deleted: (object: T) => void;
};

export type ExpectationsOptions<T extends KubeObject> = {
  readonly clock: Clock;
  /** The key whose state an object is part of, if any. */
  readonly keyOf: (object: T) => string | undefined;
  /** Somebody else made, changed or deleted an object of the key. */
  readonly changedByOthers: (key: string) => void;
};

/**
 * An informer that has to read everything anew may never show an object that was made and deleted meanwhile. After
 * this long the copy is believed again.
 */
const patienceMs = 60_000;

type Written<T> = { readonly object: T; readonly at: number };
type Arrival<T> = { readonly object: T; readonly isGone: boolean };
type KeyState<T> = {
  readonly written: Map<string, Written<T>>;
  readonly deleted: Set<string>;
  /** Present while the key is worked on. */
  arrivals?: Arrival<T>[];
};

export function createExpectations<T extends KubeObject>(
  options: ExpectationsOptions<T>,
): Expectations<T> {
  const { clock, keyOf, changedByOthers } = options;
  const states = new Map<string, KeyState<T>>();
  const arrive = (key: string | undefined, arrival: Arrival<T>): void => {
    if (key === undefined) return;
    const state = states.get(key);
    if (state?.arrivals !== undefined) state.arrivals.push(arrival);
    else if (!settle(state, arrival)) changedByOthers(key);
    drop(states, key);
  };
  return {
    over: (key, cached) => overlay(states.get(key), cached, clock.now()),
    async during(key, work) {
      const state: KeyState<T> = states.get(key) ?? { written: new Map(), deleted: new Set() };
      states.set(key, state);
      const arrivals: Arrival<T>[] = [];
      state.arrivals = arrivals;
      try {
        return await work(notesIn(state, clock));
      } finally {
        delete state.arrivals;
        const foreign = arrivals.filter((arrival) => !settle(state, arrival));
        if (foreign.length > 0) changedByOthers(key);
        drop(states, key);
      }
    },
    handler: {
      add: (object) => arrive(keyOf(object), { object, isGone: false }),
      update(before, after) {
        arrive(keyOf(after), { object: after, isGone: false });
        if (keyOf(before) !== keyOf(after)) arrive(keyOf(before), { object: before, isGone: true });
      },
      delete: (object) => arrive(keyOf(object), { object, isGone: true }),
    },
    forget(key) {
      const state = states.get(key);
      state?.written.clear();
      state?.deleted.clear();
      drop(states, key);
    },
  };
}

function notesIn<T extends KubeObject>(
  { written, deleted }: KeyState<T>,
  clock: Clock,
): WriteNotes<T> {
  return {
    wrote: (object) => void written.set(uidOf(object), { object, at: clock.now() }),
    deleted(object) {
      written.delete(uidOf(object));
      deleted.add(uidOf(object));
    },
  };
}

/** Drops what the informer has now shown. Returns whether it was our own doing. */
function settle<T extends KubeObject>(
  state: KeyState<T> | undefined,
  { object, isGone }: Arrival<T>,
): boolean {
  if (state === undefined) return false;
  const uid = uidOf(object);
  const own = state.written.get(uid);
  if (isGone) {
    state.written.delete(uid);
    return state.deleted.delete(uid);
  }
  if (own !== undefined && !isNewer(own.object, object)) state.written.delete(uid);
  return state.deleted.has(uid) || (own !== undefined && !isNewer(object, own.object));
}

function drop<T>(states: Map<string, KeyState<T>>, key: string): void {
  const state = states.get(key);
  if (state === undefined || state.arrivals !== undefined) return;
  if (state.written.size === 0 && state.deleted.size === 0) states.delete(key);
}

function overlay<T extends KubeObject>(
  state: KeyState<T> | undefined,
  cached: readonly T[],
  now: number,
): readonly T[] {
  if (state === undefined) return cached;
  const unseen = new Map(state.written);
  const objects: T[] = [];
  for (const object of cached) {
    const uid = uidOf(object);
    const own = unseen.get(uid);
    unseen.delete(uid);
    if (state.deleted.has(uid)) continue;
    objects.push(own !== undefined && isNewer(own.object, object) ? own.object : object);
  }
  for (const { object, at } of unseen.values()) if (now - at < patienceMs) objects.push(object);
  return objects;
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

/** Versions of one resource grow with every write. */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  return Number(a.metadata.resourceVersion) > Number(b.metadata.resourceVersion);
}

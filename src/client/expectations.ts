// Own writes that the informer has not observed yet. A controller that reads only the informer right after a write sees stale
// state and may create an object twice. Expectations overlay the informer's copy with own writes until it has caught up, and tell
// own changes from external ones.
import type { Clock } from '../host/clock.ts';
import type { KubeObject } from '../meta/object.ts';
import type { ChangeHandler } from './informer.ts';

export type Expectations<T extends KubeObject> = {
  /** The cached objects of a key, overlaid with own writes that the informer has not observed. */
  readonly over: (key: string, cached: readonly T[]) => readonly T[];
  /**
   * Runs `work` on a key; all writes belong inside. Watch events often arrive before the responses of the writes that caused
   * them, so what is observed meanwhile is attributed after `work` has ended.
   */
  readonly during: <R>(key: string, work: (notes: WriteRecorder<T>) => Promise<R>) => Promise<R>;
  /** To be registered with the informer. */
  readonly handler: ChangeHandler<T>;
  readonly forget: (key: string) => void;
};

export type WriteRecorder<T> = {
  /** Takes the server's response to a create or an update. */
  readonly wrote: (object: T) => void;
  readonly deleted: (object: T) => void;
};

export type ExpectationsOptions<T extends KubeObject> = {
  readonly clock: Clock;
  /** The key that an object belongs to, if any. */
  readonly keyOf: (object: T) => string | undefined;
  /** Called when another client created, changed or deleted an object of the key. */
  readonly changedExternally: (key: string) => void;
};

/**
 * An informer that relists never observes an object that was created and deleted in between. After this long its copy
 * is authoritative again.
 */
const maxUnobservedMs = 60_000;

type Written<T> = { readonly object: T; readonly at: number };
type Observation<T> = { readonly object: T; readonly isDeleted: boolean };
type KeyState<T> = {
  readonly written: Map<string, Written<T>>;
  readonly deleted: Set<string>;
  /** Present while `during()` runs for the key. */
  observations?: Observation<T>[];
};

export function createExpectations<T extends KubeObject>(
  options: ExpectationsOptions<T>,
): Expectations<T> {
  const { clock, keyOf, changedExternally } = options;
  const states = new Map<string, KeyState<T>>();
  const observe = (key: string | undefined, observation: Observation<T>): void => {
    if (key === undefined) return;
    const state = states.get(key);
    if (state?.observations !== undefined) state.observations.push(observation);
    else if (!settle(state, observation)) changedExternally(key);
    prune(states, key);
  };
  return {
    over: (key, cached) => overlay(states.get(key), cached, clock.now()),
    async during(key, work) {
      const state: KeyState<T> = states.get(key) ?? { written: new Map(), deleted: new Set() };
      states.set(key, state);
      const observations: Observation<T>[] = [];
      state.observations = observations;
      try {
        return await work(recorderFor(state, clock));
      } finally {
        delete state.observations;
        const external = observations.filter((observation) => !settle(state, observation));
        if (external.length > 0) changedExternally(key);
        prune(states, key);
      }
    },
    handler: {
      add: (object) => observe(keyOf(object), { object, isDeleted: false }),
      update(before, after) {
        observe(keyOf(after), { object: after, isDeleted: false });
        if (keyOf(before) !== keyOf(after))
          observe(keyOf(before), { object: before, isDeleted: true });
      },
      delete: (object) => observe(keyOf(object), { object, isDeleted: true }),
    },
    forget(key) {
      const state = states.get(key);
      state?.written.clear();
      state?.deleted.clear();
      prune(states, key);
    },
  };
}

function recorderFor<T extends KubeObject>(
  { written, deleted }: KeyState<T>,
  clock: Clock,
): WriteRecorder<T> {
  return {
    wrote: (object) => void written.set(uidOf(object), { object, at: clock.now() }),
    deleted(object) {
      written.delete(uidOf(object));
      deleted.add(uidOf(object));
    },
  };
}

/** Removes the expectations that the observation fulfils. Returns whether the change was our own. */
function settle<T extends KubeObject>(
  state: KeyState<T> | undefined,
  { object, isDeleted }: Observation<T>,
): boolean {
  if (state === undefined) return false;
  const uid = uidOf(object);
  const own = state.written.get(uid);
  if (isDeleted) {
    state.written.delete(uid);
    return state.deleted.delete(uid);
  }
  if (own !== undefined && !isNewer(own.object, object)) state.written.delete(uid);
  return state.deleted.has(uid) || (own !== undefined && !isNewer(object, own.object));
}

function prune<T>(states: Map<string, KeyState<T>>, key: string): void {
  const state = states.get(key);
  if (state === undefined || state.observations !== undefined) return;
  if (state.written.size === 0 && state.deleted.size === 0) states.delete(key);
}

function overlay<T extends KubeObject>(
  state: KeyState<T> | undefined,
  cached: readonly T[],
  now: number,
): readonly T[] {
  if (state === undefined) return cached;
  const unobserved = new Map(state.written);
  const objects: T[] = [];
  for (const object of cached) {
    const uid = uidOf(object);
    const own = unobserved.get(uid);
    unobserved.delete(uid);
    if (state.deleted.has(uid)) continue;
    objects.push(own !== undefined && isNewer(own.object, object) ? own.object : object);
  }
  for (const { object, at } of unobserved.values())
    if (now - at < maxUnobservedMs) objects.push(object);
  return objects;
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

/** Resource versions grow with every write. */
function isNewer(a: KubeObject, b: KubeObject): boolean {
  return Number(a.metadata.resourceVersion) > Number(b.metadata.resourceVersion);
}

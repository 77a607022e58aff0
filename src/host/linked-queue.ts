// Things in the order in which they came, each of which may leave at any time.
//
// A Set has that order too, but not for what comes and goes thousands of times a second: every few times V8 gives it a
// new table, to which the one before keeps a reference. Where one has got old in memory, it keeps all that follow, and
// the requests or connections in them, from all but the full collections of garbage, and each of the small ones copies
// them.

export type Place<T> = {
  readonly thing: T;
  isTaken: boolean;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
};

export type Line<T> = {
  readonly add: (thing: T) => Place<T>;
  /** Fine when it has left already. */
  readonly leave: (place: Place<T>) => void;
  readonly first: () => Place<T> | undefined;
  readonly all: () => readonly T[];
  readonly size: () => number;
};

export function createLine<T>(): Line<T> {
  let first: Place<T> | undefined;
  let last: Place<T> | undefined;
  let size = 0;
  return {
    add(thing) {
      const place: Place<T> = { thing, isTaken: true, before: last, after: undefined };
      if (last === undefined) first = place;
      else last.after = place;
      last = place;
      size += 1;
      return place;
    },
    leave(place) {
      if (!place.isTaken) return;
      const { before, after } = place;
      if (before === undefined) first = after;
      else before.after = after;
      if (after === undefined) last = before;
      else after.before = before;
      place.isTaken = false;
      // Who has left keeps nobody.
      place.before = undefined;
      place.after = undefined;
      size -= 1;
    },
    first: () => first,
    all() {
      const things: T[] = [];
      for (let place = first; place !== undefined; place = place.after) things.push(place.thing);
      return things;
    },
    size: () => size,
  };
}

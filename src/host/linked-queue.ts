// A doubly linked queue: first in, first out, and an entry can be removed from anywhere in constant time.
//
// A Set keeps insertion order too, but is expensive for values that come and go thousands of times a second: V8
// reallocates its table every few changes, and the previous table refers to the new one. Once a table has been promoted
// to the old generation, it keeps all its successors alive, with the requests or connections in them, until the next
// full collection, and every minor collection copies them.

export type QueueEntry<T> = {
  readonly value: T;
  isQueued: boolean;
  previous: QueueEntry<T> | undefined;
  next: QueueEntry<T> | undefined;
};

export type LinkedQueue<T> = {
  readonly add: (value: T) => QueueEntry<T>;
  /** Does nothing for an entry that was removed before. */
  readonly remove: (entry: QueueEntry<T>) => void;
  readonly first: () => QueueEntry<T> | undefined;
  readonly all: () => readonly T[];
  readonly size: () => number;
};

export function createLinkedQueue<T>(): LinkedQueue<T> {
  let first: QueueEntry<T> | undefined;
  let last: QueueEntry<T> | undefined;
  let size = 0;
  return {
    add(value) {
      const entry: QueueEntry<T> = { value, isQueued: true, previous: last, next: undefined };
      if (last === undefined) first = entry;
      else last.next = entry;
      last = entry;
      size += 1;
      return entry;
    },
    remove(entry) {
      if (!entry.isQueued) return;
      const { previous, next } = entry;
      if (previous === undefined) first = next;
      else previous.next = next;
      if (next === undefined) last = previous;
      else next.previous = previous;
      entry.isQueued = false;
      // A removed entry that is still referenced must not keep its neighbours alive.
      entry.previous = undefined;
      entry.next = undefined;
      size -= 1;
    },
    first: () => first,
    all() {
      const values: T[] = [];
      for (let entry = first; entry !== undefined; entry = entry.next) values.push(entry.value);
      return values;
    },
    size: () => size,
  };
}

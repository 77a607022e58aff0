// What waits, by owner: handed out to the owners in turn, and to each in the order in which its things came.

export type Rotation<T> = {
  readonly add: (owner: string, thing: T) => void;
  /** Takes out whose turn it is. */
  readonly next: () => T | undefined;
  readonly size: () => number;
};

export function createRotation<T>(): Rotation<T> {
  /** Owners with something waiting, the one whose turn it is first. */
  const lines = new Map<string, Set<T>>();
  let size = 0;
  return {
    add(owner, thing) {
      const line = lines.get(owner);
      if (line === undefined) lines.set(owner, new Set([thing]));
      else line.add(thing);
      size += 1;
    },
    next() {
      const [first] = lines;
      if (first === undefined) return undefined;
      const [owner, line] = first;
      const [thing] = line;
      lines.delete(owner);
      line.delete(thing as T);
      // Its next turn comes after everybody else's.
      if (line.size > 0) lines.set(owner, line);
      size -= 1;
      return thing;
    },
    size: () => size,
  };
}

// What waits, by owner: handed out to the owners in turn, and to each in the order in which its things came.
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';

export type Rotation<T> = {
  readonly add: (owner: string, thing: T) => void;
  /** Takes out whose turn it is. */
  readonly next: () => T | undefined;
  readonly size: () => number;
};

export function createRotation<T>(): Rotation<T> {
  const byName = new Map<string, Owner<T>>();
  /** Owners with something waiting, the one whose turn it is first. */
  const turns = createLinkedQueue<Owner<T>>();
  let size = 0;
  return {
    add(owner, thing) {
      const { things } = byName.get(owner) ?? enter(owner);
      things.add(thing);
      size += 1;
    },
    next() {
      const turn = turns.first();
      const first = turn?.value.things.first();
      if (turn === undefined || first === undefined) return undefined;
      const owner = turn.value;
      turns.remove(turn);
      owner.things.remove(first);
      // Its next turn comes after everybody else's.
      if (owner.things.size() > 0) turns.add(owner);
      else byName.delete(owner.name);
      size -= 1;
      return first.value;
    },
    size: () => size,
  };

  function enter(name: string): Owner<T> {
    const owner = { name, things: createLinkedQueue<T>() };
    byName.set(name, owner);
    turns.add(owner);
    return owner;
  }
}

type Owner<T> = { readonly name: string; readonly things: LinkedQueue<T> };

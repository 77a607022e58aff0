// Values wait by owner: the owners take turns, and the values of each owner come out in the order in which they were added.
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';

export type RoundRobinQueue<T> = {
  readonly add: (owner: string, value: T) => void;
  /** Removes the first value of the owner whose turn it is. */
  readonly next: () => T | undefined;
  readonly size: () => number;
};

export function createRoundRobinQueue<T>(): RoundRobinQueue<T> {
  const byName = new Map<string, Owner<T>>();
  /** Owners with values, the one whose turn it is first. */
  const owners = createLinkedQueue<Owner<T>>();
  let size = 0;
  return {
    add(owner, value) {
      const { values } = byName.get(owner) ?? addOwner(owner);
      values.add(value);
      size += 1;
    },
    next() {
      const entry = owners.first();
      const first = entry?.value.values.first();
      if (entry === undefined || first === undefined) return undefined;
      const owner = entry.value;
      owners.remove(entry);
      owner.values.remove(first);
      // Behind all other owners.
      if (owner.values.size() > 0) owners.add(owner);
      else byName.delete(owner.name);
      size -= 1;
      return first.value;
    },
    size: () => size,
  };

  function addOwner(name: string): Owner<T> {
    const owner = { name, values: createLinkedQueue<T>() };
    byName.set(name, owner);
    owners.add(owner);
    return owner;
  }
}

type Owner<T> = { readonly name: string; readonly values: LinkedQueue<T> };

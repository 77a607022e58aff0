// Elements that come and elements that go, set by set.
import type { Element, NftSet, Operation } from '../../../host/nftables/objects.ts';
import { type Entry, isSharedSet } from './fragment.ts';
import type { Uses } from './uses.ts';

export type ElementDifference = {
  readonly take: (entry: Entry) => void;
  readonly leave: (entry: Entry) => void;
  readonly operations: () => readonly Operation[];
  readonly changes: () => number;
};

type SetDifference = {
  readonly set: NftSet;
  readonly gone: Map<string, Element>;
  readonly come: Map<string, Element>;
};

/** What was left is taken back where it is wanted again as it was. */
export function createElementDifference(): ElementDifference {
  const bySet = new Map<string, SetDifference>();
  const of = (set: NftSet): SetDifference => {
    const found = bySet.get(set.name) ?? { set, gone: new Map(), come: new Map() };
    bySet.set(set.name, found);
    return found;
  };
  return {
    leave: ({ set, element }) => void of(set).gone.set(keyText(element), element),
    take: ({ set, element }) => {
      const { gone, come } = of(set);
      const key = keyText(element);
      const before = gone.get(key);
      if (before !== undefined && dataText(before) === dataText(element)) gone.delete(key);
      else come.set(key, element);
    },
    operations: () => [...bySet.values()].flatMap(setOperations),
    changes: () => sum([...bySet.values()].map(({ gone, come }) => gone.size + come.size)),
  };
}

/** Side by side, so that no packet looks into the kernel's table between an element's end and its successor. */
function setOperations({ set, gone, come }: SetDifference): readonly Operation[] {
  const remove = { kind: 'delete-elements', set, elements: [...gone.values()] } as const;
  const add = { kind: 'add-elements', set, elements: [...come.values()] } as const;
  return [remove, add].filter(({ elements }) => elements.length > 0);
}

export function leaveElement(entry: Entry, uses: Uses, elements: ElementDifference): void {
  if (!isSharedSet(entry.set)) {
    elements.leave(entry);
    return;
  }
  const key = `${entry.set.name} ${keyText(entry.element)}`;
  const left = (uses.elements.get(key) ?? 0) - 1;
  if (left > 0) {
    uses.elements.set(key, left);
    return;
  }
  uses.elements.delete(key);
  elements.leave(entry);
}

export function takeElement(entry: Entry, uses: Uses, elements: ElementDifference): void {
  if (!isSharedSet(entry.set)) {
    elements.take(entry);
    return;
  }
  const key = `${entry.set.name} ${keyText(entry.element)}`;
  const count = uses.elements.get(key) ?? 0;
  uses.elements.set(key, count + 1);
  if (count === 0) elements.take(entry);
}

export function keyText({ key }: Element): string {
  return key.join(' ');
}

function dataText({ data }: Element): string {
  if (data === undefined) return '';
  if (!('kind' in data)) return data.join(' ');
  return 'chain' in data ? `${data.kind} ${data.chain}` : data.kind;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

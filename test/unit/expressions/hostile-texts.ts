// Texts that make an expression try as much as it can: the way to each of its loops, the loop many times, and an end
// that nothing takes.
import type { Automaton } from './automaton.ts';
import { samples } from './parse-expression.ts';

const length = 100_000;
/** Of an expression; loops come first, and later ones rarely differ. */
const maxTexts = 60;

export function hostileTexts(automaton: Automaton): readonly string[] {
  const loops = automaton.next.flatMap((_, state) => {
    const cycle = findPath(automaton, automaton.next[state] ?? [], state);
    const way = findPath(automaton, automaton.first, state);
    return cycle === undefined || way === undefined ? [] : [{ state, cycle, way }];
  });
  const texts = loops.flatMap(({ state, cycle, way }) => {
    const prefix = spell(automaton, way);
    const pumps = new Set([
      ...charactersOf(automaton, state),
      spell(automaton, cycle),
      prefix + spell(automaton, cycle),
    ]);
    return [...pumps].flatMap((pump) => {
      const many = pump.repeat(Math.ceil(length / pump.length));
      return [`${prefix}${many}${refused(automaton, state)}`, `${prefix}${many}`, `${many}\n\0`];
    });
  });
  return [...new Set(texts)].slice(0, maxTexts);
}

/** The states of the shortest path from one of several states to another, including both ends. */
function findPath(
  { next }: Automaton,
  from: readonly number[],
  to: number,
): readonly number[] | undefined {
  const before = new Map<number, number | undefined>(from.map((state) => [state, undefined]));
  for (const state of before.keys()) {
    if (state === to) {
      const way = [];
      for (let at: number | undefined = to; at !== undefined; at = before.get(at)) way.unshift(at);
      return way;
    }
    for (const following of next[state] ?? []) {
      if (!before.has(following)) before.set(following, state);
    }
  }
  return undefined;
}

const spell = ({ sets }: Automaton, way: readonly number[]): string =>
  way.map((state) => samples[lastTaken(sets[state] ?? [])] ?? '').join('');

/** Printable rather than control characters. */
const lastTaken = (set: readonly boolean[]): number => {
  const letter = 'a'.charCodeAt(0);
  return set[letter] ? letter : set.lastIndexOf(true);
};

/** One character of the state for each other state that takes it too, so that overlaps are met. */
function charactersOf({ sets }: Automaton, state: number): readonly string[] {
  const own = sets[state] ?? [];
  const shared = sets.flatMap((other) => {
    const index = samples.findIndex((_, i) => own[i] && other[i]);
    return index < 0 ? [] : [samples[index] as string];
  });
  return [...new Set(shared)].slice(0, 8);
}

/** A character that nothing after the state takes. */
function refused({ sets, next }: Automaton, state: number): string {
  const following = next[state] ?? [];
  return samples.find((_, i) => !following.some((after) => sets[after]?.[i])) ?? '\0';
}

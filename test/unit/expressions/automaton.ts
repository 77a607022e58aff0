// An expression as an automaton whose states are the atoms that take a character, and what it says of the cost of a
// match that backtracks: exponential where one text leads around a loop in two ways, at least quadratic where one
// text goes around a loop, around a later loop, and from the one to the other.
import { type CharacterSet, type Node, samples } from './parse-expression.ts';

export type Automaton = {
  readonly sets: readonly CharacterSet[];
  /** Atoms that may follow; an atom stands here twice where two ways lead to it. */
  readonly next: readonly (readonly number[])[];
  readonly first: readonly number[];
  /** From here the whole expression has matched, whatever follows. */
  readonly isDone: readonly boolean[];
};

type Edge = { readonly to: number; readonly asserts: boolean };
type Graph = { edges: Edge[][]; takes: (CharacterSet | undefined)[] };

/** Copies of a bounded repetition: enough to show that two of them meet. */
const maxCopies = 3;
/** Of `x{n}`, whose length tells texts apart that end differently. */
const maxExactCopies = 8;

export function buildAutomaton(node: Node, flags: string): Automaton {
  const graph: Graph = { edges: [], takes: [] };
  const start = addState(graph);
  const searched =
    flags.includes('y') || isAnchored(node) ? start : add(graph, searchAnywhere, start);
  const end = add(graph, node, searched);
  const atoms = graph.takes.flatMap((set, state) => (set === undefined ? [] : [state]));
  const numberOf = new Map(atoms.map((state, number) => [state, number]));
  const after = (state: number) => reachable(graph, state, numberOf);
  return {
    sets: atoms.map((state) => graph.takes[state] as CharacterSet),
    next: atoms.map((state) => after(afterAtom(graph, state))),
    first: after(start),
    isDone: atoms.map((state) => isFree(graph, afterAtom(graph, state), end)),
  };
}

/** Why a match can cost more than a constant for each character; undefined where it cannot. */
export function costOf(automaton: Automaton): string | undefined {
  const { next } = automaton;
  const reach = next.map((_, state) => reachOf(next, state));
  const inLoop = next.flatMap((_, state) => (reach[state]?.has(state) ? [state] : []));
  for (const p of inLoop) {
    if (hasTwoWays(automaton, reach, p))
      return `exponential: two ways around ${show(automaton, p)}`;
  }
  for (const p of inLoop) {
    for (const q of inLoop) {
      if (p === q || !reach[p]?.has(q) || automaton.isDone[q]) continue;
      if (canPumpBoth(automaton, reach, p, q)) {
        return `quadratic: ${show(automaton, p)} and ${show(automaton, q)} share a text`;
      }
    }
  }
  return undefined;
}

const searchAnywhere: Node = {
  node: 'repeat',
  of: { node: 'characters', set: samples.map(() => true) },
  min: 0,
  max: Infinity,
};

function isAnchored(node: Node): boolean {
  switch (node.node) {
    case 'assertion':
      return node.isStart;
    case 'sequence':
      return node.parts[0] !== undefined && isAnchored(node.parts[0]);
    case 'choice':
      return node.parts.every(isAnchored);
    default:
      return false;
  }
}

function addState(graph: Graph, set?: CharacterSet): number {
  graph.edges.push([]);
  return graph.takes.push(set) - 1;
}

function link(graph: Graph, from: number, to: number, asserts = false): void {
  graph.edges[from]?.push({ to, asserts });
}

/** Adds the states of a node after a state, and says where it ends. */
function add(graph: Graph, node: Node, from: number): number {
  switch (node.node) {
    case 'characters': {
      const atom = addState(graph, node.set);
      const end = addState(graph);
      link(graph, from, atom);
      link(graph, atom, end);
      return end;
    }
    case 'assertion': {
      const end = addState(graph);
      link(graph, from, end, true);
      return end;
    }
    case 'sequence':
      return node.parts.reduce((at, part) => add(graph, part, at), from);
    case 'choice': {
      const end = addState(graph);
      for (const part of node.parts) link(graph, add(graph, part, from), end);
      return end;
    }
    case 'repeat':
      return addRepeat(graph, node, from);
  }
}

function addRepeat(graph: Graph, node: Node & { node: 'repeat' }, from: number): number {
  const isExact = node.min === node.max;
  const min = Math.min(node.min, isExact ? maxExactCopies : maxCopies - 1);
  const max = isExact ? min : node.max === Infinity ? Infinity : Math.min(node.max, maxCopies);
  let at = from;
  // `x+` is one state with a loop, not `xx*`.
  const copies = max === Infinity ? Math.max(min - 1, 0) : min;
  for (let i = 0; i < copies; i += 1) at = add(graph, node.of, at);
  if (max === Infinity) {
    const begin = addState(graph);
    link(graph, at, begin);
    const last = add(graph, node.of, begin);
    link(graph, last, begin);
    const end = addState(graph);
    link(graph, last, end);
    if (min === 0) link(graph, at, end);
    return end;
  }
  const end = addState(graph);
  for (let i = min; i < max; i += 1) {
    link(graph, at, end);
    at = add(graph, node.of, at);
  }
  link(graph, at, end);
  return end;
}

const afterAtom = (graph: Graph, atom: number): number => graph.edges[atom]?.[0]?.to as number;

/** The atoms that come next, once for each way that takes nothing in between. */
function reachable(
  graph: Graph,
  from: number,
  numberOf: ReadonlyMap<number, number>,
): readonly number[] {
  const found: number[] = [];
  const visit = (state: number, path: ReadonlySet<number>): void => {
    const atom = numberOf.get(state);
    if (atom !== undefined) {
      found.push(atom);
      return;
    }
    if (path.has(state)) return;
    const longer = new Set([...path, state]);
    for (const { to } of graph.edges[state] ?? []) visit(to, longer);
  };
  visit(from, new Set());
  return found;
}

/** Whether the end is reached without an assertion, which could fail. */
function isFree(graph: Graph, from: number, end: number): boolean {
  const seen = new Set([from]);
  for (const state of seen) {
    if (graph.takes[state] !== undefined) continue;
    for (const { to, asserts } of graph.edges[state] ?? []) if (!asserts) seen.add(to);
  }
  return seen.has(end);
}

type Next = readonly (readonly number[])[];

function reachOf(next: Next, from: number): ReadonlySet<number> {
  const seen = new Set(next[from]);
  for (const state of seen) for (const to of next[state] ?? []) seen.add(to);
  return seen;
}

type Reach = readonly ReadonlySet<number>[];

const meet = (sets: readonly (CharacterSet | undefined)[]): boolean =>
  samples.some((_, i) => sets.every((set) => set?.[i]));

/** What follows states that read the same text, each by an atom that all of them can read. */
function nextTogether({ sets, next }: Automaton, states: readonly number[]): readonly States[] {
  let combined: readonly States[] = [[]];
  for (const state of states) {
    combined = combined.flatMap((before) =>
      [...new Set(next[state])].map((after) => [...before, after]),
    );
  }
  return combined.filter((after) => meet(after.map((state) => sets[state])));
}

type States = readonly number[];

/** Whether states that read the same text can come to others; only ways that `stays` allows. */
function search(
  automaton: Automaton,
  from: readonly States[],
  {
    stays,
    isWanted,
  }: { stays: (states: States) => boolean; isWanted: (states: States) => boolean },
): boolean {
  const seen = new Set(from.map(String));
  const queue = [...from];
  for (const states of queue) {
    for (const after of nextTogether(automaton, states)) {
      if (seen.has(String(after)) || !stays(after)) continue;
      if (isWanted(after)) return true;
      seen.add(String(after));
      queue.push(after);
    }
  }
  return false;
}

/** One text that leads around a loop of p in two ways. */
function hasTwoWays(automaton: Automaton, reach: Reach, p: number): boolean {
  const isAround = (state: number) => reach[p]?.has(state) && reach[state]?.has(p);
  const around = automaton.next.flatMap((_, state) => (isAround(state) ? [state] : []));
  const repeats = (state: number): boolean => {
    const after = (automaton.next[state] ?? []).filter(isAround);
    return new Set(after).size < after.length;
  };
  if (around.some(repeats)) return true;
  const stays = (states: States) => states.every(isAround);
  const parted: States[] = [];
  search(automaton, [[p, p]], {
    stays,
    isWanted([a, b]) {
      if (a !== b) parted.push([a as number, b as number]);
      return false;
    },
  });
  return search(automaton, parted, { stays, isWanted: ([a, b]) => a === p && b === p });
}

/** One text that leads from p to p, from p to q and from q to q. */
function canPumpBoth(automaton: Automaton, reach: Reach, p: number, q: number): boolean {
  const ends = [p, q, q];
  return search(automaton, [[p, p, q]], {
    stays: (states) =>
      states.every((state, i) => state === ends[i] || reach[state]?.has(ends[i] as number)),
    isWanted: (states) => states.every((state, i) => state === ends[i]),
  });
}

function show({ sets }: Automaton, state: number): string {
  const taken = samples.filter((_, i) => sets[state]?.[i]);
  return taken.length > 100 ? '<nearly any>' : JSON.stringify(taken.slice(0, 12).join(''));
}

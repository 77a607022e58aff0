// Whether some rules cover others, and which are missing, for messages. A rule is a box: verbs times groups times
// resources times names. The user's rules are cut out of the wanted ones box by box, so that a rule of 70 values in each
// dimension does not become 24 million tuples.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { tooLarge } from '../../meta/api-error.ts';
import { goQuoteList } from '../../schema/go-quote.ts';
import { prepareRule, type Sides } from './prepared-rule.ts';

/** Sides of a box; `null` is every name. */
export type Box = readonly (readonly (string | null)[])[];

export type MissingRules = {
  /** One verb on one resource each, in the order of the wanted rules; the first ones only. */
  readonly parts: readonly PolicyRule[];
  /** Whether there are more. */
  readonly isCut: boolean;
};

/** Some ten milliseconds; the largest roles against hundreds of rules of a user take a hundredth of it. */
const maxSteps = 500_000;
/** Bounds the message, which is sent and logged. */
const maxParts = 1_000;
const maxPartsLength = 64 * 1024;

/** What `owned` lacks of `wanted`; no parts when nothing. Throws 413 when it takes too many steps. */
export function missingRules(
  owned: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  steps = maxSteps,
): MissingRules {
  const budget = { steps };
  const room: Room = { parts: maxParts, length: maxPartsLength, isCut: false };
  const parts: PolicyRule[] = [];
  const boxes = owned.map(prepareRule);
  const onResources = boxes.map(({ resources }) => resources);
  const onUrls = boxes.flatMap(({ urls }) => (urls === undefined ? [] : [urls]));
  for (const rule of wanted) {
    parts.push(...lackingParts(boxOf(rule), onResources), ...lackingParts(urlBoxOf(rule), onUrls));
    if (room.isCut) break;
  }
  return { parts, isCut: room.isCut };

  function lackingParts(box: Box, held: readonly Sides[]): readonly PolicyRule[] {
    return partsOf(box, cutOut(box, held, budget), room);
  }
}

type Budget = { steps: number };

/** What is left of a box without those that are held: boxes that do not overlap. */
function cutOut(wanted: Box, held: readonly Sides[], budget: Budget): readonly Box[] {
  let remaining: readonly Box[] = wanted.some((side) => side.length === 0) ? [] : [wanted];
  for (const owned of held) {
    if (remaining.length === 0) return remaining;
    remaining = cutEach(remaining, owned, budget);
  }
  return remaining;
}

/** Returns the same list when nothing is cut: most rules of a user are unrelated to the wanted one. */
function cutEach(boxes: readonly Box[], owned: Sides, budget: Budget): readonly Box[] {
  if (!boxes.some((box) => meets(box, owned, budget))) return boxes;
  return boxes.flatMap((box) => (meets(box, owned, budget) ? cutOne(box, owned, budget) : [box]));
}

function meets(box: Box, owned: Sides, budget: Budget): boolean {
  for (let index = 0; index < box.length; index += 1) {
    const side = box[index] as Box[number];
    const { coversAll, covers, cost } = owned[index] as Sides[number];
    spend(budget, 1);
    if (coversAll) continue;
    const first = side.findIndex(covers);
    spend(budget, (first < 0 ? side.length : first + 1) * cost);
    if (first < 0) return false;
  }
  return true;
}

/** Creating a box costs as much as some comparisons. */
const stepsOfBox = 20;

/** One box without another: for each side what lies outside of it, times what lies inside of the sides before. */
function cutOne(box: Box, owned: Sides, budget: Budget): readonly Box[] {
  const sides = box.map((side, index) => {
    const { covers, cost } = owned[index] as Sides[number];
    spend(budget, stepsOfBox + side.length * (1 + cost));
    const covered = side.map(covers);
    return {
      inside: side.filter((_, i) => covered[i]),
      outside: side.filter((_, i) => !covered[i]),
    };
  });
  return sides.flatMap(({ outside }, index) => {
    if (outside.length === 0) return [];
    const before = sides.slice(0, index).map(({ inside }) => inside);
    return [[...before, outside, ...box.slice(index + 1)]];
  });
}

function spend(budget: Budget, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) {
    throw tooLarge(
      'Request entity too large: the rules are too many to be compared with those of the user',
    );
  }
}

/** Verbs, groups, resources, names. */
const boxOf = (rule: PolicyRule): Box => [
  rule.verbs ?? [],
  rule.apiGroups ?? [],
  rule.resources ?? [],
  rule.resourceNames?.length ? rule.resourceNames : [null],
];

/** Verbs, paths. */
const urlBoxOf = (rule: PolicyRule): Box => [rule.verbs ?? [], rule.nonResourceURLs ?? []];

type Part = readonly (string | null)[];
type Room = { parts: number; length: number; isCut: boolean };

/** The smallest parts of boxes, up to the limit, in the order of the rule. */
function partsOf(wanted: Box, boxes: readonly Box[], room: Room): readonly PolicyRule[] {
  const found: Part[] = [];
  for (const box of boxes) {
    for (const part of productOf(box)) {
      room.isCut ||= room.parts <= 0 || room.length <= 0;
      if (room.isCut) return sorted(wanted, found);
      room.parts -= 1;
      room.length -= part.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      found.push(part);
    }
  }
  return sorted(wanted, found);
}

function sorted(wanted: Box, found: readonly Part[]): readonly PolicyRule[] {
  if (found.length === 0) return [];
  const order = wanted.map((side, index) => {
    const positions = new Map<string | null, number>();
    const isNeeded = new Set(found.map((part) => part[index]));
    for (const [position, value] of side.entries()) {
      if (isNeeded.has(value) && !positions.has(value)) positions.set(value, position);
    }
    return positions;
  });
  const positionOf = (part: Part) =>
    sideOrder(part.length).map((side) => order[side]?.get(part[side] ?? null) ?? 0);
  return found
    .map((part) => ({ part, position: positionOf(part) }))
    .sort((a, b) => comparePositions(a.position, b.position))
    .map(({ part }) => ruleOf(part));
}

/** Groups, then resources, then verbs, then names; paths before verbs. */
const sideOrder = (sides: number): readonly number[] => (sides === 2 ? [1, 0] : [1, 2, 0, 3]);

function comparePositions(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((position, i) => position !== b[i]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

function* productOf(box: Box): Generator<Part> {
  const [side, ...rest] = box;
  if (side === undefined) yield [];
  else for (const value of side) for (const tail of productOf(rest)) yield [value, ...tail];
}

function ruleOf(part: Part): PolicyRule {
  const [verb, group, resource, name] = part;
  if (part.length === 2) return { verbs: [verb ?? ''], nonResourceURLs: [group ?? ''] };
  return {
    verbs: [verb ?? ''],
    apiGroups: [group ?? ''],
    resources: [resource ?? ''],
    ...(name === null || name === undefined ? {} : { resourceNames: [name] }),
  };
}

/** Lines for messages: verbs on the same resource together, in alphabetical order, without duplicates. */
export function describeRules({ parts, isCut }: MissingRules): readonly string[] {
  const lines = [...new Set(joinVerbs(parts).map(describeRule))].sort();
  return isCut ? [...lines, '...'] : lines;
}

function joinVerbs(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, { part: PolicyRule; verbs: string[] }>();
  const others: PolicyRule[] = [];
  for (const part of parts) {
    if (part.nonResourceURLs?.length) {
      others.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const found = joined.get(key);
    if (found === undefined) joined.set(key, { part, verbs: [...(part.verbs ?? [])] });
    else found.verbs.push(...(part.verbs ?? []));
  }
  return [...others, ...[...joined.values()].map(({ part, verbs }) => ({ ...part, verbs }))];
}

function describeRule(rule: PolicyRule): string {
  const fields: readonly (readonly [string, readonly string[] | null | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = fields.flatMap(([name, values]) =>
    values?.length ? [`${name}:${goQuoteList(values)}`] : [],
  );
  return `{${shown.join(', ')}}`;
}

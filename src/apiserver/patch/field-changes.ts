// The fields of each manager after a write. The same change of the same set
// recurs (a status, an annotation), so its result is cached with the set.
import { difference, type FieldSet, printFieldSet, union } from './fieldset.ts';
import { internSet } from './known-sets.ts';

export type Change = {
  readonly gained: FieldSet;
  readonly lost: FieldSet;
  /** Both as one text. */
  readonly key: string;
};

/** Of a manager other than the writer: without what the writer changed and what was removed. */
export function fieldsLeft(fields: FieldSet, change: Change): FieldSet {
  return remembered(left, fields, change, () => {
    const rest = difference(difference(fields, change.gained), change.lost);
    return rest === fields ? fields : internSet(rest);
  });
}

/** Of the writer, who had `fields`. */
export function fieldsTaken(fields: FieldSet, change: Change): FieldSet {
  return remembered(taken, fields, change, () =>
    internSet(printFieldSet(union(fieldsLeft(fields, change), change.gained))),
  );
}

type Outcomes = WeakMap<FieldSet, Map<string, FieldSet>>;

const left: Outcomes = new WeakMap();
const taken: Outcomes = new WeakMap();

/** Of one set; more changes than this hardly ever recur. */
const maxChanges = 64;
/** Longer ones are large objects that are replaced as a whole. */
const maxKeyLength = 1_024;

function remembered(
  outcomes: Outcomes,
  fields: FieldSet,
  { key }: Change,
  decide: () => FieldSet,
): FieldSet {
  if (key.length > maxKeyLength) return decide();
  let known = outcomes.get(fields);
  if (known === undefined) {
    known = new Map();
    outcomes.set(fields, known);
  }
  let outcome = known.get(key);
  if (outcome === undefined) {
    outcome = decide();
    if (known.size >= maxChanges) known.clear();
    known.set(key, outcome);
  }
  return outcome;
}

// Interned field sets with their text. Most objects of a kind set the same fields: they
// share one tree in memory, and its text is encoded once.
import type { FieldSet } from './fieldset.ts';

/** Far more sets than a cluster's objects have; a client that invents new ones only disables the sharing. */
const maxKnown = 4_096;
/** Larger ones hardly ever recur. */
const maxTextLength = 16_384;

const byText = new Map<string, FieldSet>();
const texts = new WeakMap<FieldSet, string>();

/** The interned set with the same content in the same order; this one, if there is none yet. */
export function internSet(set: FieldSet): FieldSet {
  if (texts.has(set)) return set;
  const text = JSON.stringify(set);
  const known = byText.get(text);
  if (known !== undefined) return known;
  if (text.length > maxTextLength) return set;
  if (byText.size >= maxKnown) byText.clear();
  byText.set(text, set);
  texts.set(set, text);
  return set;
}

/** A set as JSON. */
export function textOfSet(set: FieldSet): string {
  return texts.get(set) ?? JSON.stringify(set);
}

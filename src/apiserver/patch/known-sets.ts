// Field sets that come again and again, each kept once with its text. Most objects of a kind set the same fields: they
// share one tree in memory, and what is written for it is not made anew each time.
import type { FieldSet } from './fieldset.ts';

/** Far more forms than a cluster's objects have; a client that makes up ever new ones only costs the sharing. */
const maxKnown = 4_096;
/** Larger ones are hardly ever met twice. */
const maxTextLength = 16_384;

const byText = new Map<string, FieldSet>();
const texts = new WeakMap<FieldSet, string>();

/** The set that is known with the same content in the same order; from now on this one, if there is none. */
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

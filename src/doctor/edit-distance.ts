// How far two words are from each other: inserted, deleted, replaced and swapped letters (optimal string alignment).

/** Names and label values have at most 63 characters, keys a prefix besides; longer texts are not compared. */
const maxLength = 80;

/** The distance, or undefined when it is larger than `limit`. */
export function editDistance(a: string, b: string, limit: number): number | undefined {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > limit) return undefined;
  if (a.length > maxLength || b.length > maxLength) return undefined;
  let rows: Rows = { last: Array.from({ length: b.length + 1 }, (_none, at) => at) };
  for (let i = 1; i <= a.length; i += 1) {
    const row = nextRow({ a, b, i }, rows);
    if (Math.min(...row) > limit) return undefined;
    rows = { last: row, beforeLast: rows.last };
  }
  const distance = rows.last[b.length] ?? 0;
  return distance <= limit ? distance : undefined;
}

/** The distances of the beginnings of `a` with i - 1 and i - 2 letters from those of `b`. */
type Rows = { readonly last: readonly number[]; readonly beforeLast?: readonly number[] };
type At = { readonly a: string; readonly b: string; readonly i: number };

function nextRow({ a, b, i }: At, { last, beforeLast }: Rows): readonly number[] {
  const row = [i];
  for (let j = 1; j <= b.length; j += 1) {
    const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
    const changed = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
    const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    const swapped = isSwap ? (beforeLast?.[j - 2] ?? changed) + 1 : changed;
    row.push(Math.min(changed, swapped));
  }
  return row;
}

/** Short words are all near each other, so they may differ by less. */
const allowedEdits = (length: number): number => (length < 5 ? 1 : length < 10 ? 2 : 3);
/** Shorter words are part of too many others. */
const minPart = 3;

/** Whether a person could have meant one and written the other: case, separators, a few letters, a prefix or suffix. */
export function areSimilar(a: string, b: string): boolean {
  if (a === '' || b === '') return false;
  if (plain(a) === plain(b)) return true;
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  if (editDistance(a, b, allowedEdits(shorter.length)) !== undefined) return true;
  return shorter.length >= minPart && hasWords(longer, shorter);
}

const plain = (text: string): string =>
  text.length > maxLength ? text : text.toLowerCase().replaceAll(/[-_.]/g, '');

/** `web` is the beginning or the end of `web-frontend` and `my-web`. */
function hasWords(longer: string, shorter: string): boolean {
  const isStart = longer.startsWith(shorter) && isSeparator(longer[shorter.length]);
  return isStart || (longer.endsWith(shorter) && isSeparator(longer.at(-shorter.length - 1)));
}

const isSeparator = (character: string | undefined): boolean => /^[-_./]$/.test(character ?? '');

/** The candidate that is nearest to the word, if any is similar. */
export function similarWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: { readonly text: string; readonly distance: number } | undefined;
  for (const text of candidates) {
    if (text === word || !areSimilar(word, text)) continue;
    const distance = editDistance(word, text, maxLength) ?? maxLength;
    if (best === undefined || distance < best.distance) best = { text, distance };
  }
  return best?.text;
}

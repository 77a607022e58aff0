// How far two words are from each other: inserted, deleted, replaced and swapped letters (optimal string alignment).

/** Names and label values have at most 63 characters, keys a prefix besides; longer texts are not compared. */
const maxLength = 80;

/** The distance, or undefined when it is larger than `limit`. The work is in proportion to the limit, and ends as soon as it is exceeded. */
export function editDistance(first: string, second: string, limit: number): number | undefined {
  if (first === second) return 0;
  if (Math.abs(first.length - second.length) > limit) return undefined;
  if (first.length > maxLength || second.length > maxLength) return undefined;
  const [a, b] = withoutCommonEnds(first, second);
  const tooFar = limit + 1;
  const row = (): Uint8Array => new Uint8Array(b.length + 2).fill(tooFar);
  let rows = { beforeLast: row(), last: row(), next: row() };
  for (let j = 0; j <= Math.min(b.length, limit); j += 1) rows.last[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    if (fillRow({ a, b, i, limit }, rows) > limit) return undefined;
    rows = { beforeLast: rows.last, last: rows.next, next: rows.beforeLast };
  }
  const distance = rows.last[b.length] ?? tooFar;
  return distance <= limit ? distance : undefined;
}

/** What both begin and end with costs nothing. */
function withoutCommonEnds(first: string, second: string): readonly [string, string] {
  let start = 0;
  while (start < first.length && first[start] === second[start]) start += 1;
  let [end, otherEnd] = [first.length, second.length];
  while (end > start && otherEnd > start && first[end - 1] === second[otherEnd - 1]) {
    [end, otherEnd] = [end - 1, otherEnd - 1];
  }
  return [first.slice(start, end), second.slice(start, otherEnd)];
}

/** The distances of the beginnings of `a` with i - 2, i - 1 and i letters from those of `b`. */
type Rows = {
  readonly beforeLast: Uint8Array;
  readonly last: Uint8Array;
  readonly next: Uint8Array;
};
type At = {
  readonly a: string;
  readonly b: string;
  readonly i: number;
  readonly limit: number;
};

/** Only cells that can be within the limit. Returns the smallest of them. */
function fillRow({ a, b, i, limit }: At, { beforeLast, last, next }: Rows): number {
  const tooFar = limit + 1;
  const [from, to] = [Math.max(1, i - limit), Math.min(b.length, i + limit)];
  next[from - 1] = from === 1 ? Math.min(i, tooFar) : tooFar;
  next[to + 1] = tooFar;
  let smallest = next[from - 1] ?? tooFar;
  for (let j = from; j <= to; j += 1) {
    const replaced = (last[j - 1] ?? tooFar) + (a[i - 1] === b[j - 1] ? 0 : 1);
    const changed = Math.min((last[j] ?? tooFar) + 1, (next[j - 1] ?? tooFar) + 1, replaced);
    const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    const swapped = isSwap ? (beforeLast[j - 2] ?? tooFar) + 1 : changed;
    const cell = Math.min(changed, swapped, tooFar);
    next[j] = cell;
    smallest = Math.min(smallest, cell);
  }
  return smallest;
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

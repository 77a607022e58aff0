// Limits the nesting of values. Readers recurse, and a stack overflow would end the process; no kind nests a tenth as
// deep. Go's limit is 10,000.

const deepest = 500;

export const tooDeep = 'exceeded max depth';

const [quote, backslash] = [0x22, 0x5c];
const isOpening = (code: number): boolean => code === 0x5b || code === 0x7b;
const isClosing = (code: number): boolean => code === 0x5d || code === 0x7d;

/** For readers that count their own depth. */
export const isTooManyOpen = (levels: number): boolean => levels > deepest;

/** A text with fewer characters cannot be too deep. */
export const canNestTooDeep = (text: string): boolean => text.length > deepest;

/** For JSON that is not parsed yet. */
export function isTextTooDeep(text: string): boolean {
  if (!canNestTooDeep(text)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (isOpening(code) && isTooManyOpen(++depth)) return true;
    else if (isClosing(code)) depth--;
  }
  return false;
}

/** The index of the quote that ends the string beginning at `start`. */
export function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) return i;
    if (code === backslash) i++;
  }
  return text.length;
}

/** For values; level by level, without recursion. */
export function isValueTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (isTooManyOpen(depth)) return true;
    level = level.flatMap((part) =>
      typeof part === 'object' && part !== null ? Object.values(part) : [],
    );
  }
  return false;
}

// How many values one body may hold. A few megabytes can be a million empty lists, and everything that reads them holds
// up everybody else meanwhile; objects that people write have some hundreds, the largest some ten thousand.
import { endOfString } from './nesting.ts';

export const mostValues = 50_000;

const [quote, comma, openBracket, openBrace] = [0x22, 0x2c, 0x5b, 0x7b];

/** Of JSON that is not parsed yet: each value but the first of a list or object follows a comma. */
export function hasTooManyValues(text: string, most = mostValues): boolean {
  // No value takes less than a character and what parts it from the next.
  if (text.length <= 2 * most) return false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma || code === openBracket || code === openBrace) values++;
  }
  return values > most;
}

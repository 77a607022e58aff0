// A stream of JSON values, one a line, as watches send them.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A line that grows past this is no event: objects are at most a few megabytes. */
const maxLineLength = 64 * 1024 * 1024;
const newline = 0x0a;
/**
 * A large state comes all at once. After so many lines others get their turn, above all the server when it runs in
 * the same process.
 */
const linesAtATime = 200;

export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<unknown, void, undefined> {
  let count = 0;
  for await (const { text, isWhole } of readLines(chunks)) {
    if (text.trim() === '') continue;
    // A connection that was cut leaves half a line; the watch is resumed from the last whole one.
    if (isWhole || isJson(text)) yield JSON.parse(text);
    count += 1;
    if (count % linesAtATime === 0) await nextTurn();
  }
}

type Line = { readonly text: string; readonly isWhole: boolean };

async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Line, void, undefined> {
  let pending: Uint8Array[] = [];
  let pendingSize = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const text = Buffer.concat([...pending, chunk.subarray(start, end)]).toString('utf8');
      pending = [];
      pendingSize = 0;
      start = end + 1;
      yield { text, isWhole: true };
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
    pendingSize += chunk.length - start;
    if (pendingSize > maxLineLength) {
      throw new Error(`Cannot read a line of JSON: it is longer than ${maxLineLength} bytes`);
    }
  }
  yield { text: Buffer.concat(pending).toString('utf8'), isWhole: false };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

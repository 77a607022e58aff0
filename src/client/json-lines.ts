// Reads a stream of newline-delimited JSON values, as watches send them.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Far above any event: objects are at most a few megabytes. */
const maxLineLength = 64 * 1024 * 1024;
const newline = 0x0a;
/**
 * A large initial state arrives in one burst. After this many lines the event loop runs, above all for a server in the
 * same process.
 */
const linesPerYield = 200;

export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<unknown, void, undefined> {
  let count = 0;
  for await (const { text, isWhole } of readLines(chunks)) {
    if (text.trim() === '') continue;
    // A cut connection leaves an incomplete line: skip it, as the watch resumes from the last complete one.
    if (isWhole || isJson(text)) yield JSON.parse(text);
    count += 1;
    if (count % linesPerYield === 0) await yieldToEventLoop();
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

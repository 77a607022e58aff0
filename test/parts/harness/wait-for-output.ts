import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';

/** Reads until the text has come; the rest is read and forgotten. */
export function waitForOutput(stream: Readable | null, wanted: RegExp): Promise<RegExpExecArray> {
  assert.ok(stream !== null);
  return new Promise((resolve, reject) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = wanted.exec(text);
      if (match !== null) resolve(match);
    });
    stream.once('close', () => reject(new Error(`"${wanted}" was never said, but: ${text}`)));
  });
}

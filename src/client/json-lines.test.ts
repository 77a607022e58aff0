import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJsonLines } from './json-lines.ts';

async function* sent(chunks: readonly string[]): AsyncIterable<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk, 'latin1');
}

const umlaut = Buffer.from('"ä"\n').toString('latin1');

const cases: readonly { name: string; chunks: readonly string[]; values: readonly unknown[] }[] = [
  { name: 'nothing', chunks: [], values: [] },
  { name: 'two lines in one chunk', chunks: ['{"a":1}\n{"a":2}\n'], values: [{ a: 1 }, { a: 2 }] },
  { name: 'a line in three chunks', chunks: ['{"a"', ':', '1}\n'], values: [{ a: 1 }] },
  { name: 'a character cut in two', chunks: [umlaut.slice(0, 2), umlaut.slice(2)], values: ['ä'] },
  { name: 'empty lines', chunks: ['\n1\n\n'], values: [1] },
  { name: 'a last line without its end', chunks: ['1\n2'], values: [1, 2] },
  { name: 'a last line that was cut', chunks: ['1\n{"a"'], values: [1] },
];
for (const { name, chunks, values } of cases) {
  test(`readJsonLines() reads ${name}`, async () => {
    const read: unknown[] = [];
    for await (const value of readJsonLines(sent(chunks))) read.push(value);
    assert.deepEqual(read, values);
  });
}

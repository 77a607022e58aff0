import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scratchBytes } from './scratch-buffer.ts';

test('scratchBytes() gives each text bytes of its own, across slabs and sizes', () => {
  const texts = Array.from(
    { length: 400 },
    (_, at) => `${at} é日🙂 ${'x'.repeat((at * 97) % 9_000)}`,
  );
  texts.push('', 'y'.repeat(300_000));
  const made = texts.map(scratchBytes);
  for (const [at, bytes] of made.entries()) assert.equal(bytes.toString('utf8'), texts[at]);
});

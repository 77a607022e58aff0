import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWarnings } from './warnings.ts';

const cases: readonly {
  header: string | readonly string[] | undefined;
  texts: readonly string[];
}[] = [
  { header: undefined, texts: [] },
  { header: '299 - "one"', texts: ['one'] },
  {
    header: '299 - "a, b", 299 - "unknown field \\"foo\\""',
    texts: ['a, b', 'unknown field "foo"'],
  },
  { header: ['299 - "a"', '299 - "b"'], texts: ['a', 'b'] },
  { header: '110 - "stale"', texts: [] },
];
for (const { header, texts } of cases) {
  test(`parseWarnings() of ${JSON.stringify(header)}`, () => {
    assert.deepEqual(parseWarnings(header), texts);
  });
}

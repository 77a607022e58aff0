import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAccept } from './accept.ts';

describe('parseAccept()', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'a/b, c/d': ['a/b', 'c/d'],
    'a/b;q=0.1, c/d;q=0.2': ['c/d', 'a/b'],
    '*/*, a/b': ['a/b', '*/*'],
    'a/*, a/b': ['a/b', 'a/*'],
    '*, a/b;q=x': ['*/*', 'a/b'],
    'nonsense, a/b/c, /, a/b': ['a/b'],
    '': [],
  };
  for (const [header, order] of Object.entries(cases)) {
    it(`orders ${JSON.stringify(header)}`, () =>
      assert.deepEqual(
        parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`),
        order,
      ));
  }

  it('keeps the parameters', () =>
    assert.deepEqual(parseAccept('a/b; as = Table ;v=v1;q=0.5;odd')[0]?.parameters, {
      as: 'Table',
      v: 'v1',
    }));
});

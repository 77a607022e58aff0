import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyMergePatch } from './merge-patch.ts';

/** The examples of RFC 7386, appendix A, that have an object as patch, and some more. */
const cases: readonly (readonly [document: unknown, patch: unknown, result: unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: 1 }, {}, { a: 1 }],
];

describe('applyMergePatch()', () => {
  for (const [document, patch, result] of cases) {
    it(`merges ${JSON.stringify(patch)} into ${JSON.stringify(document)}`, () => {
      assert.deepEqual(applyMergePatch(document, patch), result);
    });
  }

  it('shares what it does not change and leaves the document alone', () => {
    const document = { a: { x: 1 }, b: { y: 1 } };
    const result = applyMergePatch(document, { a: { x: 2 } }) as typeof document;
    assert.equal(result.b, document.b);
    assert.deepEqual(document, { a: { x: 1 }, b: { y: 1 } });
  });

  it('keeps a key named __proto__ a key', () => {
    const result = applyMergePatch({}, JSON.parse('{"__proto__":{"a":1}}')) as object;
    assert.deepEqual(Object.keys(result), ['__proto__']);
  });

  it('refuses patches that are no object', () => {
    assert.throws(() => applyMergePatch({}, []), {
      message:
        'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    });
    assert.throws(() => applyMergePatch({}, null), { message: 'Invalid JSON Patch' });
  });
});

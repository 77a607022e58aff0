import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { managerFromUserAgent, validateFieldManager } from './manager.ts';

describe('managerFromUserAgent()', () => {
  const cases: readonly (readonly [userAgent: string, manager: string])[] = [
    ['kubectl/v1.36.0 (linux/amd64) kubernetes/abc', 'kubectl'],
    ['Mozilla/5.0', 'Mozilla'],
    ['node', 'node'],
    ['my tool/1', 'my tool'],
    ['a\u0007b\n/1', 'ab'],
    ['', ''],
    ['/x', ''],
    ['m'.repeat(200), 'm'.repeat(128)],
    ['ü'.repeat(100), 'ü'.repeat(64)],
  ];
  for (const [userAgent, manager] of cases) {
    it(`makes ${JSON.stringify(manager)} of ${JSON.stringify(userAgent)}`, () => {
      assert.equal(managerFromUserAgent(userAgent), manager);
    });
  }
});

describe('validateFieldManager()', () => {
  const texts = (manager: string, isApply: boolean, forceGiven = false): readonly string[] =>
    validateFieldManager(manager, isApply, { forceGiven, isPatch: true }).map(errorText);

  it('is required for an apply', () => {
    assert.deepEqual(texts('', true), [
      'fieldManager: Required value: is required for apply patch',
    ]);
    assert.deepEqual(texts('', false), []);
  });

  it('has at most 128 bytes', () => {
    assert.deepEqual(texts('m'.repeat(128), true), []);
    assert.deepEqual(texts('ü'.repeat(65), true), [
      'fieldManager: Too long: may not be more than 128 bytes',
    ]);
  });

  it('is printable', () => {
    assert.deepEqual(texts('ü\nb\u0007', false), [
      'fieldManager: Invalid value: "ü\\nb\\a": invalid character U+000A (at position 2)',
      'fieldManager: Invalid value: "ü\\nb\\a": invalid character U+0007 (at position 4)',
    ]);
  });

  it('leaves force to applies', () => {
    assert.deepEqual(texts('m', false, true), [
      'force: Forbidden: may not be specified for non-apply patch',
    ]);
    assert.deepEqual(texts('m', true, true), []);
  });
});

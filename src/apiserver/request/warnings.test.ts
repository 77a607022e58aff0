import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningHeaders } from './warnings.ts';

test('warningHeaders() writes one line for each text, quotes escaped', () => {
  assert.deepEqual(warningHeaders(['unknown field "spec.x"', 'a\\b']), [
    '299 - "unknown field \\"spec.x\\""',
    '299 - "a\\\\b"',
  ]);
});

test('warningHeaders() says nothing twice', () => {
  assert.deepEqual(warningHeaders(['a', 'b', 'a']), ['299 - "a"', '299 - "b"']);
});

test('warningHeaders() drops what no header may hold', () => {
  assert.deepEqual(warningHeaders(['', 'two\nlines', 'a\u007fb', 'tab\there', 'é日']), [
    '299 - "é日"',
  ]);
});

test('warningHeaders() leaves long texts alone while all together are short enough', () => {
  const long = 'x'.repeat(4000);
  assert.deepEqual(warningHeaders([long, 'y']), [`299 - "${long}"`, '299 - "y"']);
});

test('warningHeaders() cuts each text, and then their number, when together they are too long', () => {
  const texts = Array.from({ length: 100 }, (_, i) => String(i).padStart(4, '0') + 'é'.repeat(300));
  const headers = warningHeaders(texts);
  assert.equal(headers.length, 16);
  assert.equal(headers[15], `299 - "0015${'é'.repeat(252)}"`);
});

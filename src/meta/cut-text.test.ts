import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, invalid as invalidObject, notFound } from './api-error.ts';
import { cutText } from './cut-text.ts';
import { duplicate, invalid } from './field-error.ts';

const megabytes = 'x'.repeat(3_000_000);

test('cutText() keeps short texts, and marks a cut', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'abc...');
});

test('a Status shows a limited part of megabytes that a client sent', () => {
  const kind = { group: '', kind: 'Pod' };
  const errors = Array.from({ length: 5_000 }, (_, n) => invalid(`spec.f[${n}]`, megabytes, 'no'));
  const statuses = [
    invalidObject(kind, megabytes, errors),
    invalidObject(kind, 'a', [duplicate('spec', { a: megabytes })]),
    notFound({ group: '', resource: 'pods' }, megabytes),
    failure({ code: 400, message: megabytes }),
  ];
  for (const { status } of statuses) assert.ok(JSON.stringify(status).length < 1_000_000);
});

test('a Status lists a few errors, and the number of very many', () => {
  const kind = { group: '', kind: 'Pod' };
  const errors = (count: number) =>
    Array.from({ length: count }, (_, n) => invalid(`spec.f[${n}]`, n, 'no'));
  assert.equal(invalidObject(kind, 'a', errors(3)).status.details?.causes?.length, 3);
  const { status } = invalidObject(kind, 'a', errors(49_000));
  assert.equal(status.details?.causes?.length, 1_000);
  assert.match(status.message ?? '', /and 48000 more\]$/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internSet, textOfSet } from './known-sets.ts';

test('internSet() gives equal sets the first of them, unless their order differs', () => {
  const first = internSet({ 'f:a': { 'f:b': {} }, 'f:c': {} });
  assert.equal(internSet({ 'f:a': { 'f:b': {} }, 'f:c': {} }), first);
  assert.equal(internSet(first), first);
  assert.notEqual(internSet({ 'f:c': {}, 'f:a': { 'f:b': {} } }), first);
  assert.notEqual(internSet({ 'f:a': {}, 'f:c': {} }), first);
});

test('textOfSet() is the JSON of known and unknown sets', () => {
  const set = { 'f:é"': {}, 'k:{"port":80}': { '.': {} } };
  assert.equal(textOfSet(set), JSON.stringify(set));
  assert.equal(textOfSet(internSet(set)), JSON.stringify(set));
});

test('internSet() goes on after it has met more sets than it keeps', () => {
  const first = internSet({ 'f:first': {} });
  for (let index = 0; index < 5_000; index++) internSet({ [`f:${index}`]: {} });
  assert.equal(internSet(first), first);
  assert.equal(textOfSet(first), '{"f:first":{}}');
  assert.deepEqual(internSet({ 'f:first': {} }), first);
});

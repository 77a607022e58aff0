import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, fieldsLeft, fieldsTaken } from './field-changes.ts';
import { difference, emptySet, type FieldSet, printFieldSet, union } from './fieldset.ts';

const sets: readonly FieldSet[] = [
  emptySet,
  { 'f:a': {} },
  { 'f:a': {}, 'f:b': { '.': {}, 'f:c': {} } },
  { 'f:b': { 'f:c': {}, 'f:d': {} } },
];

function change(gained: FieldSet, lost: FieldSet): Change {
  return { gained, lost, key: JSON.stringify([gained, lost]) };
}

test('fieldsLeft() and fieldsTaken() say each time what the operations on sets say', () => {
  for (const round of ['new', 'known']) {
    for (const fields of sets) {
      for (const gained of sets) {
        for (const lost of sets) {
          const left = difference(difference(fields, gained), lost);
          const where = `${round}: ${JSON.stringify([fields, gained, lost])}`;
          assert.deepEqual(fieldsLeft(fields, change(gained, lost)), left, where);
          const taken = printFieldSet(union(left, gained));
          assert.deepEqual(fieldsTaken(fields, change(gained, lost)), taken, where);
        }
      }
    }
  }
});

test('fieldsLeft() returns the set itself where nothing goes', () => {
  const fields = { 'f:a': {} };
  assert.equal(fieldsLeft(fields, change({ 'f:z': {} }, emptySet)), fields);
});

test('fieldsTaken() decides changes too large to be remembered', () => {
  const gained = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f:x${at}`, {}]));
  const taken = fieldsTaken({ 'f:a': {} }, change(gained, emptySet));
  assert.equal(Object.keys(taken).length, 401);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ancestorOffset, isWithin, joinName, labelsOf, nameText, wireName } from './names.ts';

test('wireName() puts lengths before labels and folds the case of letters (DNS-01)', () => {
  assert.equal(wireName('Web.Example'), '\x03web\x07example\0');
  assert.equal(wireName('web.example.'), '\x03web\x07example\0');
  assert.equal(wireName(''), '\0');
});

test('wireName() rejects invalid names', () => {
  for (const text of [
    'a..b',
    '.a',
    'x'.repeat(64),
    `${'x'.repeat(63)}.`.repeat(4),
    'a.\u{1F600}',
  ]) {
    assert.equal(wireName(text), undefined, text);
  }
  assert.equal(wireName(`${'x'.repeat(63)}.`.repeat(3) + 'x'.repeat(61))?.length, 255);
});

test('nameText() escapes special bytes', () => {
  assert.equal(nameText('\x04a.b\\\x01\xe4\0'), 'a\\.b\\\\.\\228.');
  assert.equal(nameText('\0'), '.');
});

test('ancestorOffset() finds ancestors at label boundaries only', () => {
  const zone = '\x01a\x01b\0';
  assert.equal(ancestorOffset('\x01x\x01a\x01b\0', zone), 2);
  assert.equal(ancestorOffset(zone, zone), 0);
  // The bytes of the zone stand at the end, but inside of one label.
  assert.equal(ancestorOffset('\x05x\x01a\x01b\0', zone), undefined);
  assert.equal(isWithin('\x01b\0', zone), false);
});

test('joinName() rejects names that are too long', () => {
  assert.equal(joinName(['a', 'B'], '\x01c\0'), '\x01a\x01b\x01c\0');
  assert.equal(joinName(['x'.repeat(64)], '\0'), undefined);
  assert.equal(
    joinName(
      Array.from({ length: 5 }, () => 'x'.repeat(60)),
      '\0',
    ),
    undefined,
  );
});

test('labelsOf() splits a name', () => {
  assert.deepEqual(labelsOf('\x01a\x02bc\0'), ['a', 'bc']);
  assert.deepEqual(labelsOf('\0'), []);
});

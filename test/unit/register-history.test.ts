import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolation, type Operation } from '../parts/harness/register-history.ts';

const write = (value: string, startedAt: number, endedAt?: number): Operation => ({
  kind: 'write',
  value,
  startedAt,
  ...(endedAt === undefined ? {} : { endedAt }),
});
const read = (value: string, startedAt: number, endedAt: number): Operation => ({
  kind: 'read',
  value,
  startedAt,
  endedAt,
});

const possible: Readonly<Record<string, readonly Operation[]>> = {
  'nothing at all': [],
  'one after the other': [write('a', 1, 2), read('a', 3, 4), write('b', 5, 6), read('b', 7, 8)],
  'the state before': [read('', 1, 2), write('a', 3, 4)],
  'a read beside a write that shows the old': [write('a', 1, 9), read('', 2, 3), read('a', 10, 11)],
  'a read beside a write that shows the new': [write('a', 1, 9), read('a', 2, 3), read('a', 4, 5)],
  'two writes at once, either last': [write('a', 1, 5), write('b', 1, 5), read('a', 6, 7)],
  'an unacknowledged write that happened': [write('a', 1), read('', 2, 3), read('a', 4, 5)],
  'an unacknowledged write that did not': [write('a', 1), read('', 2, 3), read('', 4, 5)],
  'an unacknowledged write that happened late': [
    write('a', 1),
    write('b', 2, 3),
    read('b', 4, 5),
    read('a', 6, 7),
  ],
};
for (const [name, history] of Object.entries(possible)) {
  test(`can have happened: ${name}`, () => {
    assert.equal(findViolation(history, ''), undefined);
  });
}

const impossible: Readonly<Record<string, readonly Operation[]>> = {
  'a stale read': [write('a', 1, 2), read('', 3, 4)],
  'a lost write': [write('a', 1, 2), write('b', 3, 4), read('a', 5, 6)],
  'a read from the future': [read('a', 1, 2), write('a', 3, 4)],
  'a value from nowhere': [write('a', 1, 2), read('x', 3, 4)],
  'reads that go back in time beside a write': [write('a', 1, 9), read('a', 2, 3), read('', 4, 5)],
  'two writes at once seen in both orders': [
    ...[write('a', 1, 4), write('b', 1, 4), read('a', 5, 6), read('b', 7, 8)],
  ],
  'an unacknowledged write that happened twice': [
    ...[write('a', 1), write('b', 2, 3), read('a', 4, 5), write('c', 6, 7), read('a', 8, 9)],
  ],
};
for (const [name, history] of Object.entries(impossible)) {
  test(`cannot have happened: ${name}`, () => {
    assert.notEqual(findViolation(history, ''), undefined);
  });
}

/** Operations of several clients on a register that works, with one stale read planted on demand. */
function longHistory(count: number, staleAt?: number): readonly Operation[] {
  const history: Operation[] = [];
  const values = [''];
  for (let n = 0; n < count; n += 1) {
    const at = n * 10;
    // Overlaps its neighbours; takes effect in the middle.
    const [startedAt, endedAt] = [at - 14, at + 14];
    if (n % 3 === 0) {
      values.push(`v${n}`);
      history.push(write(`v${n}`, startedAt, endedAt));
    } else {
      const value = n === staleAt ? values.at(-4) : values.at(-1);
      history.push(read(value ?? '', startedAt, endedAt));
    }
  }
  return history;
}

test('a long history of a register that works', () => {
  assert.equal(findViolation(longHistory(600), ''), undefined);
});

test('one stale read in a long history is found', () => {
  const found = findViolation(longHistory(600, 400), '');
  assert.notEqual(found, undefined);
});

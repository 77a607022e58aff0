import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, formatDuration, wholeNumber } from './parse-values.ts';

test('duration() takes lengths of time as Go programs do', () => {
  const parse = duration();
  const cases = {
    '0': 0,
    '0s': 0,
    '300ms': 300,
    '20s': 20_000,
    '1m30s': 90_000,
    '1.5h': 5_400_000,
  };
  for (const [text, ms] of Object.entries(cases)) assert.equal(parse(text), ms, text);
});

test('duration() says what would be right', () => {
  for (const text of ['', '5', 's', '-1s', '1 s', '3d', '1s2']) {
    assert.throws(() => duration()(text), /must be one like 300ms, 20s or 1m30s/, text);
  }
  assert.throws(() => duration({ minMs: 1000 })('999ms'), /at least 1000 ms/);
  assert.equal(duration({ minMs: 1000 })('1s'), 1000);
});

test('formatDuration() writes what duration() reads', () => {
  const cases = { 0: '0s', 20: '20ms', 1500: '1500ms', 50000: '50s', 60000: '1m', 7200000: '2h' };
  for (const [ms, text] of Object.entries(cases)) {
    assert.equal(formatDuration(Number(ms)), text);
    assert.equal(duration()(text), Number(ms));
  }
});

test('wholeNumber() holds its limits', () => {
  const parse = wholeNumber({ min: 1, max: 50 });
  assert.deepEqual([parse('1'), parse('50')], [1, 50]);
  for (const text of ['0', '51', '1.5', '-3', 'x', '']) {
    assert.throws(() => parse(text), /is not a whole number from 1 to 50/, text);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { requestedTimeout } from './request-timeout.ts';

const asked = (text: string): number | undefined =>
  requestedTimeout(new URLSearchParams({ timeout: text }));

test('a timeout is a length of time as Go writes it', () => {
  const lengths = {
    '5s': 5000,
    '1h2m3.5s': 3_723_500,
    '-1s': -1000,
    '300ms': 300,
    '.5h': 1_800_000,
  };
  for (const [text, ms] of Object.entries(lengths)) assert.equal(asked(text), ms);
  assert.equal(asked('250us'), 0.25);
});

test('none, an empty one and zero set no bound', () => {
  assert.equal(requestedTimeout(new URLSearchParams()), undefined);
  for (const text of ['', '0', '0s']) assert.equal(asked(text), undefined);
});

test('anything else is a bad request that says what is wrong', () => {
  for (const text of ['5', 's', '5 s', '1d', 'abc', '--1s', '1s2']) {
    assert.throws(
      () => asked(text),
      (error) =>
        isApiError(error) &&
        error.status.code === 400 &&
        error.status.message ===
          `invalid timeout specified in the request URL - time: invalid duration "${text}"`,
    );
  }
});

test('what is no duration is quoted as Go quotes durations', () => {
  assert.throws(() => asked('1\u00e9"\n'), /invalid duration "1\\xc3\\xa9\\"\\x0a"$/);
});

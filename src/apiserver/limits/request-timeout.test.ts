import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { requestedTimeout } from './request-timeout.ts';

const timeoutOf = (text: string): number | undefined =>
  requestedTimeout(new URLSearchParams({ timeout: text }));

test('requestedTimeout() reads Go durations', () => {
  const lengths = {
    '5s': 5000,
    '1h2m3.5s': 3_723_500,
    '-1s': -1000,
    '300ms': 300,
    '.5h': 1_800_000,
  };
  for (const [text, ms] of Object.entries(lengths)) assert.equal(timeoutOf(text), ms);
  assert.equal(timeoutOf('250us'), 0.25);
});

test('requestedTimeout() has no timeout for an absent, empty or zero value', () => {
  assert.equal(requestedTimeout(new URLSearchParams()), undefined);
  for (const text of ['', '0', '0s']) assert.equal(timeoutOf(text), undefined);
});

test('requestedTimeout() answers 400 for anything else', () => {
  for (const text of ['5', 's', '5 s', '1d', 'abc', '--1s', '1s2']) {
    assert.throws(
      () => timeoutOf(text),
      (error) =>
        isApiError(error) &&
        error.status.code === 400 &&
        error.status.message ===
          `invalid timeout specified in the request URL - time: invalid duration "${text}"`,
    );
  }
});

test('requestedTimeout() quotes an invalid duration as Go does', () => {
  assert.throws(() => timeoutOf('1\u00e9"\n'), /invalid duration "1\\xc3\\xa9\\"\\x0a"$/);
});

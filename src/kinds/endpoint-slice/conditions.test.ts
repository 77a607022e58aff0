import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReady, isServing, isTerminating } from './conditions.ts';
import type { EndpointConditions } from './types.ts';

const cases: readonly [string, EndpointConditions, readonly boolean[]][] = [
  ['no conditions', {}, [true, true, false]],
  ['only that it is not ready', { ready: false }, [false, true, false]],
  ['only that it terminates', { terminating: true }, [true, true, true]],
  ['all said', { ready: true, serving: false, terminating: false }, [true, false, false]],
  ['serving alone', { ready: false, serving: true, terminating: true }, [false, true, true]],
];

for (const [name, conditions, want] of cases) {
  test(`conditions of an endpoint with ${name} (EPS-21)`, () => {
    const got = [isReady(conditions), isServing(conditions), isTerminating(conditions)];
    assert.deepEqual(got, want);
  });
}

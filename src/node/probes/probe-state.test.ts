import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialProbeState, nextProbeState, type ProbeKind } from './probe-state.ts';

function resultsOf(kind: ProbeKind, outcomes: string, limits: object): string {
  let state = initialProbeState(kind);
  const results = [...outcomes].map((letter) => {
    state = nextProbeState(state, letter === '+' ? 'success' : 'failure', limits);
    return { success: '+', failure: '-', unknown: '?' }[state.result];
  });
  return results.join('');
}

const limits = { successThreshold: 2, failureThreshold: 3 };
const cases: readonly (readonly [string, ProbeKind, string, string])[] = [
  ['readiness succeeds after consecutive successes', 'readiness', '+-++', '---+'],
  ['readiness fails after consecutive failures', 'readiness', '++--+---', '-++++++-'],
  ['liveness fails after consecutive failures', 'liveness', '--+---', '+++++-'],
  ['startup is unknown before it succeeds', 'startup', '--++', '???+'],
];
for (const [name, kind, outcomes, expected] of cases) {
  test(`nextProbeState(): ${name}`, () =>
    assert.equal(resultsOf(kind, outcomes, limits), expected));
}

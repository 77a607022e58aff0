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
  ['readiness needs its successes in a row', 'readiness', '+-++', '---+'],
  ['readiness is lost after failures in a row', 'readiness', '++--+---', '-++++++-'],
  ['liveness holds until failures in a row', 'liveness', '--+---', '+++++-'],
  ['startup is open until it is decided', 'startup', '--++', '???+'],
];
for (const [name, kind, outcomes, expected] of cases) {
  test(name, () => assert.equal(resultsOf(kind, outcomes, limits), expected));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFingerprint, createSurvey } from './fingerprint.ts';
import type { SavedChain } from './saved-rules.ts';

const service: SavedChain = {
  table: 'nat',
  name: 'KUBE-SVC-AAAAAAAAAAAAAAAA',
  lines: ['-m statistic --mode random --probability 0.3333333333 -j A', '-j B'],
};
const list: SavedChain = { table: 'nat', name: 'KUBE-SERVICES', lines: ['-j A'] };

function fingerprintOf(...chains: readonly SavedChain[]): number {
  const fingerprint = createFingerprint();
  fingerprint.add(chains);
  return fingerprint.value();
}

test('a fingerprint depends on every rule, its place and its chain, not on the order of chains', () => {
  const same = fingerprintOf(service, list);
  assert.equal(fingerprintOf(list, service), same);
  const others: readonly SavedChain[] = [
    { ...service, lines: service.lines.toReversed() },
    { ...service, lines: service.lines.slice(1) },
    { ...service, lines: [...service.lines, '-j B'] },
    { ...service, table: 'filter' },
    { ...service, name: 'KUBE-SVC-BBBBBBBBBBBBBBBB' },
  ];
  const found = others.map((other) => fingerprintOf(other, list));
  assert.equal(new Set([same, fingerprintOf(list), ...found]).size, others.length + 2);
});

test('a fingerprint takes a probability as the kernel keeps it, and an empty chain as none (IPT-03)', () => {
  const [, second = ''] = service.lines;
  const kept = '-m statistic --mode random --probability 0.33333333349 -j A';
  assert.equal(fingerprintOf({ ...service, lines: [kept, second] }), fingerprintOf(service));
  assert.equal(fingerprintOf(service, { ...list, lines: [] }), fingerprintOf(service));
});

test('what is removed from a fingerprint leaves nothing behind', () => {
  const fingerprint = createFingerprint();
  fingerprint.remove([service]);
  fingerprint.add([list, service]);
  assert.equal(fingerprint.value(), fingerprintOf(list));
});

test('a survey has the fingerprint of our chains, the rules of others and the names of all', () => {
  const survey = createSurvey();
  const others: SavedChain = { table: 'nat', name: 'THEIRS', lines: ['-j RETURN'] };
  const canary: SavedChain = { table: 'mangle', name: 'KUBE-PROXY-CANARY', lines: [] };
  for (const chain of [{ ...list, lines: [] }, others, list, canary]) survey.take(chain);
  assert.equal(survey.fingerprint(), fingerprintOf(list));
  assert.deepEqual(
    survey.rest(),
    new Map([
      [
        'nat',
        new Map([
          ['KUBE-SERVICES', []],
          ['THEIRS', ['-j RETURN']],
        ]),
      ],
      ['mangle', new Map([['KUBE-PROXY-CANARY', []]])],
    ]),
  );
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparePropagations } from './compare-propagations.ts';
import { examplePart, examplePropagation } from './example.ts';
import { withExpectedParts } from './expected-parts.ts';
import { pauseAfter } from './pace.ts';
import type { Propagation, PropagationChange } from './propagation.ts';
import { stateOf } from './state-of.ts';

const one = examplePropagation([examplePart('a')]);
const two = examplePropagation([examplePart('a'), examplePart('b')]);
const behind = examplePart('a', { state: 'behind', revision: '6', behindRevisions: 1 });
const lost = examplePart('a', { state: 'no-answer', reason: 'no answer' });

const cases: readonly (readonly [string, Propagation, Propagation, readonly string[]])[] = [
  ['says nothing where nothing changed', one, one, []],
  [
    'takes times that are measured anew for no change',
    one,
    examplePropagation([examplePart('a', { since: '2026-01-01T12:00:00.004Z' })]),
    [],
  ],
  [
    'says that there is a newer revision, and who has it',
    one,
    examplePropagation([examplePart('a', { revision: '8' })], { revision: '8' }),
    ['RevisionChanged', 'PartCurrent a', 'AllCurrent'],
  ],
  ['says who is behind', one, examplePropagation([behind]), ['PartBehind a']],
  ['says who does not answer', one, examplePropagation([lost]), ['PartNoAnswer a']],
  ['says who connected', one, two, ['PartConnected b', 'PartCurrent b', 'AllCurrent']],
  ['says who is gone', two, one, ['PartDisconnected b', 'AllCurrent']],
  [
    'tells two of one name apart, as during a rolling update',
    one,
    examplePropagation([examplePart('a'), behind]),
    ['PartConnected a', 'PartBehind a'],
  ],
  [
    'says which nodes have no proxy',
    one,
    examplePropagation([examplePart('a')], { nodesWithoutProxy: ['n'] }),
    ['NodeWithoutProxy n'],
  ],
  [
    'says which nodes have one now',
    examplePropagation([examplePart('a')], { nodesWithoutProxy: ['n'] }),
    one,
    ['NodeHasProxy n', 'AllCurrent'],
  ],
];

const text = ({ type, part, node }: PropagationChange): string =>
  [type, part?.node ?? node ?? ''].join(' ').trim();

describe('comparePropagations()', () => {
  for (const [title, before, after, expected] of cases) {
    it(title, () => assert.deepEqual(comparePropagations(before, after).map(text), expected));
  }
});

describe('stateOf()', () => {
  const nodes = { nodesWithoutProxy: [] };
  const states: readonly (readonly [string, Parameters<typeof stateOf>[0], string])[] = [
    ['current', { parts: [examplePart('a')], ...nodes }, 'current'],
    ['behind where one is', { parts: [examplePart('a'), behind, lost], ...nodes }, 'behind'],
    ['unknown where one does not answer', { parts: [examplePart('a'), lost], ...nodes }, 'unknown'],
    ['unknown without parts', { parts: [], ...nodes }, 'unknown'],
    [
      'unknown where a node has no proxy',
      { parts: [examplePart('a')], nodesWithoutProxy: ['n'] },
      'unknown',
    ],
  ];
  for (const [title, input, expected] of states) {
    it(`is ${title}`, () => assert.equal(stateOf(input), expected));
  }
});

describe('withExpectedParts()', () => {
  it('misses parts that were connected before the server was away', () => {
    const { parts, state } = withExpectedParts(two, one, 0);
    assert.deepEqual(
      [parts.map((part) => part.state), state],
      [['current', 'no-answer'], 'unknown'],
    );
  });
  it('forgets them after a while', () => {
    assert.equal(withExpectedParts(two, one, 60_001), one);
  });
  it('misses none where the server was never away', () => {
    assert.equal(withExpectedParts(two, one, undefined), one);
  });
});

describe('pauseAfter()', () => {
  it('is short while something moves, and longer at rest', () => {
    assert.equal(pauseAfter({ state: 'behind', tookMs: 10 }), 500);
    assert.equal(pauseAfter({ state: 'current', tookMs: 10 }), 2000);
  });
  it('leaves a slow server most of its time', () => {
    assert.equal(pauseAfter({ state: 'behind', tookMs: 2000 }), 10_000);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPartName, parsePartName, partOn } from './names.ts';
import { positionQuestion } from './position.ts';

const applied = { services: 3, slices: 4 };

describe('positionQuestion', () => {
  const answers: readonly (readonly [string, unknown, unknown])[] = [
    ['a minimal answer', { applied }, { applied }],
    [
      'a full answer',
      { applied, ageMs: 5, isOlder: true, waitingMs: 0, mode: 'ipvs' },
      { applied, ageMs: 5, isOlder: true, waitingMs: 0, mode: 'ipvs' },
    ],
    ['what else there is', { applied, ageMs: -1, mode: 'x'.repeat(65), y: [] }, { applied }],
    ['a text', 'x', undefined],
    ['a list', [applied], undefined],
    ['nothing', undefined, undefined],
    ['a revision that is no number', { applied: { services: '3', slices: 4 } }, undefined],
    ['a fraction', { applied: { services: 0.5, slices: 4 } }, undefined],
  ];
  for (const [name, value, expected] of answers) {
    it(`readAnswer() reads or drops ${name}`, () => {
      assert.deepEqual(positionQuestion.readAnswer(value), expected);
    });
  }
});

describe('parsePartName()', () => {
  for (const text of ['', 'proxy', 'proxy.', '.a', 'controller.a', 'proxy.A', 'proxy.a/b']) {
    it(`refuses "${text}"`, () => assert.equal(parsePartName(text), undefined));
  }
  it('reads every name that partOn() makes of a machine', () => {
    const machines = ['a.example.org', 'My_Laptop', '-', '', 'x'.repeat(300)];
    for (const name of machines.map((machine) => partOn('dns', machine)))
      assert.deepEqual(parsePartName(formatPartName(name)), name);
    assert.equal(partOn('dns', 'My_Laptop').node, 'my-laptop');
  });
  it('reads what formatPartName() writes', () => {
    const name = { kind: 'dns', node: 'a.example.org' } as const;
    assert.deepEqual(parsePartName(formatPartName(name)), name);
  });
});

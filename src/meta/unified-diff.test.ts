import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unifiedDiff } from './unified-diff.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `l${n}`);
const text = (lines: readonly string[]) => lines.join('\n');

const cases: readonly (readonly [string, readonly string[], readonly string[], string])[] = [
  ['nothing', ['a', 'b'], ['a', 'b'], ''],
  ['a changed line', ['a', 'b', 'c'], ['a', 'x', 'c'], '@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n'],
  ['the only line', ['a'], ['b'], '@@ -1 +1 @@\n-a\n+b\n'],
  ['an added line', ['a', 'c'], ['a', 'b', 'c'], '@@ -1,2 +1,3 @@\n a\n+b\n c\n'],
  ['a removed line', ['a', 'b', 'c'], ['a', 'c'], '@@ -1,3 +1,2 @@\n a\n-b\n c\n'],
  [
    'changes that are far from each other',
    numbered(12),
    numbered(12).map((l) => (l === 'l1' || l === 'l10' ? 'x' : l)),
    '@@ -1,5 +1,5 @@\n l0\n-l1\n+x\n l2\n l3\n l4\n@@ -8,5 +8,5 @@\n l7\n l8\n l9\n-l10\n+x\n l11\n',
  ],
  [
    'the longest match first',
    ['{', ' a', '}', '{', ' b', ' c', '}'],
    ['{', ' b', ' c', '}'],
    '@@ -1,6 +1,3 @@\n-{\n- a\n-}\n {\n  b\n  c\n',
  ],
];

for (const [name, before, after, wanted] of cases) {
  test(`unifiedDiff() shows ${name}`, () => {
    assert.equal(unifiedDiff(text(before), text(after)), wanted);
  });
}

test('unifiedDiff() of repetitive texts is fast and truncated', () => {
  const many = (odd: string) => text([...Array(50_000).fill(odd), ...Array(50_000).fill('same')]);
  const shown = unifiedDiff(many('a'), many('b'));
  assert.match(shown, /^@@ -1,50003 \+1,50003 @@\n-a\n/);
  assert.ok(shown.length < 20_000);
});

test('unifiedDiff() falls back for texts whose comparison is quadratic', () => {
  const lines = (shift: number) =>
    text(Array.from({ length: 20_000 }, (_, n) => `l${(n * 7 + shift) % 150}`));
  const shown = unifiedDiff(lines(0), lines(1));
  assert.match(shown, /^@@ -/);
  assert.ok(shown.length < 40_000);
});

test('unifiedDiff() shows a change amid more lines than it compares', () => {
  const lines = (odd: string) =>
    text(numbered(30_000).map((line) => (line === 'l9000' || line === 'l9010' ? odd : line)));
  const shown = unifiedDiff(lines('x'), lines('y'));
  // A full comparison would give two hunks.
  assert.match(shown, /^@@ -8998,17 \+8998,17 @@\n l8997\n l8998\n l8999\n-x\n/);
});

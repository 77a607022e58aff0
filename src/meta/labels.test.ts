import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from './field-error.ts';
import {
  formatLabelMap,
  formatSelector,
  matchesSelector,
  parseLabelSelector,
  selectorFromLabelSelector,
  selectorFromMap,
  validateLabelSelector,
  validateLabels,
} from './labels.ts';

const objects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  p: { app: 'a', tier: 'front' },
  q: { app: 'a', tier: 'back' },
  r: { app: 'b' },
  s: { empty: '', n: '5' },
  t: {},
};

function selected(text: string): string {
  const parsed = parseLabelSelector(text);
  if ('error' in parsed) return parsed.error;
  const names = Object.keys(objects).filter((k) => matchesSelector(parsed.selector, objects[k]));
  return names.join('');
}

const selections: readonly (readonly [string, string])[] = [
  ['', 'pqrst'],
  [' ', 'pqrst'],
  ['app', 'pqr'],
  ['!app', 'st'],
  ['app=a', 'pq'],
  ['app==a', 'pq'],
  ['app = a', 'pq'],
  ['app!=a', 'rst'],
  ['app in (a,b)', 'pqr'],
  ['app in (a, b),tier=front', 'p'],
  ['app notin (a)', 'rst'],
  ['app,!tier', 'r'],
  ['empty=', 's'],
  ['empty!=', 'pqrt'],
  ['empty in ()', 's'],
  ['app in (,b)', 'r'],
  ['app in (b,)', 'r'],
  ['app=', ''],
  ['n>4', 's'],
  ['n>5', ''],
  ['n<6', 's'],
  ['app>1', ''],
  ['in in (in)', ''],
  ['toString', ''],
];

for (const [text, expected] of selections) {
  test(`parseLabelSelector() selects by "${text}"`, () => assert.equal(selected(text), expected));
}

const errors: readonly (readonly [string, string])[] = [
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['=v', "found '=', expected: !, identifier, or 'end of string'"],
  ['(a)', "found '(', expected: !, identifier, or 'end of string'"],
  ['a,,b', "found ',', expected: identifier after ','"],
  ['a,', "found '', expected: identifier after ','"],
  ['a=b=c', "found '=', expected: ',' or 'end of string'"],
  ['!app=a', "found '=', expected: ',' or 'end of string'"],
  ['app in', "unable to parse requirement: found '' expected: '('"],
  ['app in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['app in (a b)', "unable to parse requirement: found 'b', expected: ',' or ')'"],
  ['app in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
  ['app in (,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
  ['app notin a', "unable to parse requirement: found 'a' expected: '('"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['app!', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['a=(', "unable to parse requirement: found '(', expected: identifier"],
  [
    'n<abc',
    `unable to parse requirement: values[0]: Invalid value: "abc": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  [
    '/a=b',
    'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty',
  ],
  [
    `a=${'x'.repeat(64)}`,
    `unable to parse requirement: values[0][a]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`,
  ],
];

for (const [text, expected] of errors) {
  test(`parseLabelSelector() refuses "${text.slice(0, 20)}" in Kubernetes' words`, () =>
    assert.deepEqual(parseLabelSelector(text), { error: expected }));
}

test('formatSelector() writes what parseLabelSelector() reads, sorted by key', () => {
  const parsed = parseLabelSelector('z notin (b, a),!y,x,w!=1,v==2,u=3,n>4,m<5');
  assert.ok('selector' in parsed);
  assert.equal(formatSelector(parsed.selector), 'm<5,n>4,u=3,v==2,w!=1,x,!y,z notin (a,b)');
});

test('selectorFromMap() requires all labels', () => {
  const selector = selectorFromMap({ tier: 'front', app: 'a' });
  assert.equal(formatSelector(selector), 'app=a,tier=front');
  assert.equal(matchesSelector(selector, objects.p), true);
  assert.equal(matchesSelector(selector, objects.q), false);
  assert.equal(matchesSelector(selectorFromMap(undefined), undefined), true);
});

test('selectorFromLabelSelector(): an absent one selects nothing, an empty one everything', () => {
  assert.equal(matchesSelector(selectorFromLabelSelector(undefined), { a: 'b' }), false);
  assert.equal(matchesSelector(selectorFromLabelSelector({}), undefined), true);
  const selector = selectorFromLabelSelector({
    matchLabels: { app: 'a' },
    matchExpressions: [
      { key: 'tier', operator: 'NotIn', values: ['back'] },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  });
  assert.equal(formatSelector(selector), 'app=a,!old,tier notin (back)');
  assert.equal(matchesSelector(selector, objects.p), true);
  assert.equal(matchesSelector(selector, objects.q), false);
});

test('validateLabels() names the field and shows the bad key or value', () => {
  assert.deepEqual(
    validateLabels({ 'a b': 'x', c: 'd e' }, 'metadata.labels').map((e) => e.body),
    ['Invalid value: "a b"', 'Invalid value: "d e"'],
  );
});

test('validateLabelSelector() checks that values can be those of labels', () => {
  const wrong = { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c d'] }] } as const;
  assert.deepEqual(
    validateLabelSelector(wrong, 's').map(({ field, body }) => [field, body]),
    [['s.matchExpressions[0].values[1]', 'Invalid value: "c d"']],
  );
});

test('validateLabelSelector() checks operators and their values', () => {
  const found = validateLabelSelector(
    {
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['x'] },
        { key: '', operator: 'Like' as 'In', values: ['x'] },
      ],
    },
    'spec.selector',
  ).map(errorText);
  assert.deepEqual(found.slice(0, 4), [
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'spec.selector.matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
    'spec.selector.matchExpressions[2].key: Invalid value: "": name part must be non-empty',
  ]);
});

test('formatLabelMap() sorts, and shows nothing as <none>', () => {
  assert.equal(formatLabelMap({ b: '2', a: '1' }), 'a=1,b=2');
  assert.equal(formatLabelMap({}), '<none>');
  assert.equal(formatLabelMap(undefined), '<none>');
});

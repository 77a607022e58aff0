import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { describeRules, missingRules } from './missing-rules.ts';

const on = (resources: string, verbs: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [''],
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
});
const paths = (urls: string, verbs: string): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs: urls.split(' '),
});

const cases: readonly {
  readonly title: string;
  readonly owned: readonly PolicyRule[];
  readonly wanted: readonly PolicyRule[];
  readonly lines: readonly string[];
}[] = [
  {
    title: 'nothing when all is held',
    owned: [on('pods', 'get list')],
    wanted: [on('pods', 'get')],
    lines: [],
  },
  {
    title: 'nothing when several rules hold it together',
    owned: [on('pods', 'get'), on('services', 'get')],
    wanted: [on('pods services', 'get')],
    lines: [],
  },
  {
    title: 'nothing for stars',
    owned: [on('*', '*')],
    wanted: [on('pods/status secrets', 'get x')],
    lines: [],
  },
  {
    title: 'nothing for a star and its subresource',
    owned: [on('*/scale', 'get')],
    wanted: [on('a/scale', 'get')],
    lines: [],
  },
  {
    title: 'verbs on one thing in one line',
    owned: [on('pods', 'get')],
    wanted: [on('pods services', 'get list watch')],
    lines: [
      '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
      '{APIGroups:[""], Resources:["services"], Verbs:["get" "list" "watch"]}',
    ],
  },
  {
    title: 'all names when only some are held',
    owned: [on('pods', 'get', 'a')],
    wanted: [on('pods', 'get', 'a b'), on('pods', 'get')],
    lines: [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
  },
  {
    title: 'a star that is not held as a star',
    owned: [on('pods', 'get')],
    wanted: [on('pods', '*')],
    lines: ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  },
  {
    title: 'paths, each with each verb',
    owned: [paths('/api/*', 'get')],
    wanted: [paths('/api/v1 /metrics', 'get post')],
    lines: [
      '{NonResourceURLs:["/api/v1"], Verbs:["post"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
    ],
  },
];

const many = (prefix: string, count = 70): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const huge: PolicyRule = {
  verbs: [...many('v')],
  apiGroups: [...many('g')],
  resources: [...many('r')],
  resourceNames: [...many('n')],
};

test('missingRules() decides on a rule of 24 million tuples', () => {
  assert.deepEqual(missingRules([huge], [huge]), { parts: [], isCut: false });
  const halves = [
    { ...huge, verbs: many('v').slice(0, 40) },
    { ...huge, verbs: many('v').slice(30) },
  ];
  assert.deepEqual(missingRules(halves, [huge]).parts, []);
  const others = [{ ...huge, verbs: many('v').slice(1), resourceNames: [] }];
  const { parts, isCut } = missingRules(others, [{ ...huge, apiGroups: [''] }]);
  assert.equal(parts.length, 1_000);
  assert.ok(isCut);
  const lacking = missingRules([{ ...huge, resourceNames: many('n').slice(1) }], [huge]);
  assert.deepEqual(lacking.parts[0]?.resourceNames, ['n0']);
});

test('describeRules() of what is too long to read is bounded', () => {
  const lines = describeRules(missingRules([], [huge]));
  assert.equal(lines.at(-1), '...');
  assert.ok(lines.join('\n').length < 200_000);
  const long = { ...huge, verbs: ['x'.repeat(1_000_000), 'y'.repeat(1_000_000)] };
  assert.ok(describeRules(missingRules([], [long])).join('\n').length < 1_200_000);
});

test('missingRules() gives up on rules that are too many, with a word', () => {
  // Every rule of the user cuts another corner off, so that ever more boxes are left.
  const owned = many('', 800).map((_, i) => ({
    ...huge,
    verbs: [`v${i % 70}`],
    apiGroups: [`g${Math.floor(i / 70)}`],
    resources: [`r${(i * 11) % 70}`],
    resourceNames: [`n${(i * 13) % 70}`],
  }));
  const wanted = many('', 20).map(() => huge);
  assert.throws(() => missingRules(owned, wanted), { message: /too many to be compared/ });
});

/** By the definition: every tuple against every rule. */
function missingTuples(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]) {
  const tuples = wanted.flatMap(({ verbs = [], apiGroups, resources, resourceNames }) =>
    (apiGroups ?? []).flatMap((group) =>
      (resources ?? []).flatMap((resource) =>
        (verbs ?? []).flatMap((verb) =>
          (resourceNames ?? [undefined]).map((name) => ({ verb, group, resource, name })),
        ),
      ),
    ),
  );
  return tuples
    .filter(
      ({ verb, group, resource, name }) =>
        !owned.some(
          (rule) =>
            [verb, '*'].some((one) => rule.verbs?.includes(one)) &&
            [group, '*'].some((one) => rule.apiGroups?.includes(one)) &&
            [resource, '*'].some((one) => rule.resources?.includes(one)) &&
            (rule.resourceNames === undefined ||
              (name !== undefined && rule.resourceNames.includes(name))),
        ),
    )
    .map(({ verb, group, resource, name }) => ({
      verbs: [verb],
      apiGroups: [group],
      resources: [resource],
      ...(name === undefined ? {} : { resourceNames: [name] }),
    }));
}

test('missingRules() finds what comparing all tuples finds, in the same order', () => {
  let state = 16;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  const some = (values: readonly string[]) => values.filter(() => random() < 0.5);
  const rule = (): PolicyRule => ({
    verbs: some(['get', 'list', 'watch', '*']),
    apiGroups: some(['', 'apps', '*']),
    resources: some(['pods', 'services', 'pods/log', '*']),
    ...(random() < 0.5 ? {} : { resourceNames: ['a', ...some(['b', 'c'])] }),
  });
  for (let round = 0; round < 300; round += 1) {
    const owned = Array.from({ length: Math.floor(random() * 6) }, rule);
    const wanted = Array.from({ length: 1 + Math.floor(random() * 3) }, rule);
    assert.deepEqual(missingRules(owned, wanted).parts, missingTuples(owned, wanted));
  }
});

for (const { title, owned, wanted, lines } of cases) {
  test(`missingRules() finds ${title}`, () => {
    assert.deepEqual(describeRules(missingRules(owned, wanted)), lines);
  });
}

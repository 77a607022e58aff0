import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregateRules, createAggregation } from './aggregate-rules.ts';
import { exampleClusterRole } from './example.ts';

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });

test('aggregateRules() leaves a plain role alone', () => {
  assert.deepEqual(aggregateRules(exampleClusterRole('r', [rule('pods')]), []), [rule('pods')]);
});

test('aggregateRules() gathers by label in the order of names, without repeats, through roles that gather', () => {
  const all = [
    exampleClusterRole('admin', [rule('stale')], { gathers: ['to-admin'] }),
    exampleClusterRole('z', [rule('secrets')], { labels: { 'to-admin': 'true' } }),
    exampleClusterRole('edit', [], { labels: { 'to-admin': 'true' }, gathers: ['to-edit'] }),
    exampleClusterRole('c', [rule('pods'), rule('services')], { labels: { 'to-edit': 'true' } }),
    exampleClusterRole('b', [rule('pods')], { labels: { 'to-edit': 'true', 'to-admin': 'true' } }),
    exampleClusterRole('other', [rule('nodes')], { labels: { 'to-admin': 'false' } }),
  ];
  const [admin] = all;
  assert.ok(admin);
  assert.deepEqual(aggregateRules(admin, all), [rule('pods'), rule('services'), rule('secrets')]);
});

test('aggregateRules() ends when roles gather each other', () => {
  const a = exampleClusterRole('a', [], { labels: { x: 'true' }, gathers: ['y'] });
  const b = exampleClusterRole('b', [], { labels: { y: 'true' }, gathers: ['x', 'z'] });
  const c = exampleClusterRole('c', [rule('pods')], { labels: { z: 'true' } });
  assert.deepEqual(aggregateRules(a, [a, b, c]), [rule('pods')]);
});

test('aggregateRules() takes the square of the number of roles that all gather each other, not its factorial', () => {
  const labels = { x: 'true' };
  const all = Array.from({ length: 200 }, (_, n) =>
    exampleClusterRole(`r${n}`, [], { labels, gathers: ['x'] }),
  );
  const plain = exampleClusterRole('plain', [rule('pods')], { labels });
  assert.deepEqual(aggregateRules(all[0] ?? plain, [...all, plain]), [rule('pods')]);
});

/** So many roles that each gather by so many selectors, none of which is like another and all of which meet every role. */
const manySelectors = (roles: number, selectors: number) =>
  Array.from({ length: roles }, (_, n) => ({
    ...exampleClusterRole(`r${n}`, [], { labels: { x: 'true' } }),
    aggregationRule: {
      clusterRoleSelectors: Array.from({ length: selectors }, (_, m) => ({
        matchLabels: { x: 'true' },
        matchExpressions: [{ key: 'y', operator: 'NotIn' as const, values: [`${n}-${m}`] }],
      })),
    },
  }));

test('createAggregation() compares each selector once, and no more of them than its bound', () => {
  let compared = 0;
  const counted = new Proxy(
    {},
    {
      getOwnPropertyDescriptor(_, key) {
        compared += key === 'x' ? 1 : 0;
        return { configurable: true, enumerable: true, value: 'true' };
      },
      get: () => 'true',
    },
  ) as Readonly<Record<string, string>>;
  const plain = exampleClusterRole('plain', [rule('pods')], { labels: counted });
  const all = [...manySelectors(100, 100), plain];
  const [first] = all;
  assert.ok(first);
  const { rulesOf } = createAggregation(all, 50_000);
  assert.deepEqual(rulesOf(first), [rule('pods')]);
  assert.ok(compared > 0 && compared <= 50_000 / all.length, `${compared} selectors were compared`);
  const before = compared;
  for (const role of all) rulesOf(role);
  assert.equal(compared, before);
});

test('createAggregation() grants what it found when its bound is reached, and nothing more', () => {
  const gathering = exampleClusterRole('all', [], { gathers: ['x'] });
  const labels = { x: 'true' };
  const all = [
    gathering,
    exampleClusterRole('a', [rule('pods')], { labels }),
    exampleClusterRole('b', [rule('secrets')], { labels }),
  ];
  // The selector is read in 40 steps, three roles are compared with it in two each; a rule of three values takes four.
  assert.deepEqual(createAggregation(all, 50).rulesOf(gathering), [rule('pods')]);
  assert.deepEqual(createAggregation(all, 45).rulesOf(gathering), []);
});

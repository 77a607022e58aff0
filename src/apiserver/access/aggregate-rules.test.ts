import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregateRules } from './aggregate-rules.ts';
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

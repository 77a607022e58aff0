import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from './example.ts';
import { podLabels, selectPods } from './label-index.ts';
import type { Pod } from './types.ts';

const pod = (name: string, labels: object): Pod => examplePod({ metadata: { name, labels } });

const pods = [
  pod('a', { app: 'web', release: 'prod' }),
  pod('b', { app: 'web', release: 'test' }),
  pod('c', { app: 'db', release: 'prod' }),
];

function view() {
  const lookups: string[] = [];
  const filed = (value: string): readonly Pod[] =>
    pods.filter((one) => podLabels(one).includes(value));
  return {
    lookups,
    count: (_index: string, value: string): number => filed(value).length,
    select: (_index: string, value: string): readonly Pod[] => {
      lookups.push(value);
      return filed(value);
    },
  };
}

const names = (found: readonly Pod[]) => found.map(({ metadata }) => metadata.name);

test('selectPods() finds the pods with all labels', () => {
  assert.deepEqual(names(selectPods(view(), 'default', { app: 'web' })), ['a', 'b']);
  assert.deepEqual(names(selectPods(view(), 'default', { app: 'web', release: 'prod' })), ['a']);
  assert.deepEqual(names(selectPods(view(), 'other', { app: 'web' })), []);
  assert.deepEqual(names(selectPods(view(), 'default', { app: 'db', x: 'y' })), []);
});

test('selectPods() reads only the rarest label', () => {
  const store = view();
  selectPods(store, 'default', { release: 'prod', app: 'db' });
  assert.deepEqual(store.lookups, ['default/app=db']);
});

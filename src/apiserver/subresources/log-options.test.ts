import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import { logContainer, logQuery } from './log-options.ts';

test('logQuery() passes on what the node knows, and flags in one spelling', () => {
  const query = new URLSearchParams(
    'container=a&follow=1&timestamps=False&tailLines=5&pretty=true',
  );
  assert.equal(logQuery(query, 'web'), '?follow=true&timestamps=false&tailLines=5');
  assert.equal(logQuery(new URLSearchParams(''), 'web'), '');
});

const refused: readonly (readonly [string, RegExp])[] = [
  [
    'tailLines=-1',
    /PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0/,
  ],
  ['sinceSeconds=0', /sinceSeconds: Invalid value: 0: must be greater than 0/],
  ['limitBytes=x', /strconv.ParseInt: parsing "x": invalid syntax/],
  ['sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z', /at most one of `sinceTime` or `sinceSeconds`/],
];
for (const [query, message] of refused) {
  test(`logQuery() refuses ${query}`, () => {
    assert.throws(() => logQuery(new URLSearchParams(query), 'web'), message);
  });
}

test('logContainer() takes the only one, and wants a name where there are more', () => {
  assert.equal(logContainer(examplePod(), ''), 'app');
  const two = examplePod({
    spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
  });
  assert.equal(logContainer(two, 'i'), 'i');
  assert.throws(() => logContainer(two, ''), {
    message:
      'a container name must be specified for pod web, choose one of: [a b] or one of the init containers: [i]',
  });
  assert.throws(() => logContainer(two, 'x'), { message: 'container x is not valid for pod web' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podNode } from '../../kinds/pod/node-index.ts';
import { exampleBackend } from '../../kinds/service/example-backends.ts';
import { exampleNode } from './example.ts';
import { followNodes } from './follow-nodes.ts';

function start() {
  const reported: string[] = [];
  const handler = followNodes({
    zoneChanged: ({ metadata }) => reported.push(`zone ${metadata.name}`),
    capacityChanged: () => reported.push('capacity'),
  });
  return { reported, handler };
}

const node = exampleNode('n', { zone: 'za', cpu: '1' });

test('followNodes() reports added and deleted nodes (EPS-22)', () => {
  const { reported, handler } = start();
  handler.add(node);
  handler.delete(node);
  assert.deepEqual(reported, ['zone n', 'capacity', 'zone n', 'capacity']);
});

const updates = [
  { title: 'nothing', after: node, reported: [] },
  {
    title: 'the zone',
    after: exampleNode('n', { zone: 'zb', cpu: '1' }),
    reported: ['zone n', 'capacity'],
  },
  {
    title: 'readiness',
    after: exampleNode('n', { zone: 'za', cpu: '1', ready: false }),
    reported: ['capacity'],
  },
  { title: 'the CPUs', after: exampleNode('n', { zone: 'za', cpu: '2' }), reported: ['capacity'] },
];

for (const { title, after, reported: expected } of updates) {
  test(`followNodes() on a change of ${title} reports [${expected}]`, () => {
    const { reported, handler } = start();
    handler.update(node, after);
    assert.deepEqual(reported, expected);
  });
}

test('podNode() indexes a pod by its node, if it has one', () => {
  assert.deepEqual(podNode(exampleBackend('p')), ['n1']);
  assert.deepEqual(podNode(exampleBackend('p', { spec: { nodeName: '' } })), []);
});

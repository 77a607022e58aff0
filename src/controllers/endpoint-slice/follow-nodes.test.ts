import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podNode } from '../../kinds/pod/node-index.ts';
import { exampleBackend } from '../../kinds/service/example-backends.ts';
import { exampleNode } from './example.ts';
import { followNodes } from './follow-nodes.ts';

function start() {
  const told: string[] = [];
  const handler = followNodes({
    homeChanged: ({ metadata }) => told.push(`home ${metadata.name}`),
    weightChanged: () => told.push('weight'),
  });
  return { told, handler };
}

const node = exampleNode('n', { zone: 'za', cpu: '1' });

test('followNodes() tells of nodes that come and go (EPS-22)', () => {
  const { told, handler } = start();
  handler.add(node);
  handler.delete(node);
  assert.deepEqual(told, ['home n', 'weight', 'home n', 'weight']);
});

const updates = [
  { title: 'nothing', after: node, told: [] },
  {
    title: 'the zone',
    after: exampleNode('n', { zone: 'zb', cpu: '1' }),
    told: ['home n', 'weight'],
  },
  {
    title: 'readiness',
    after: exampleNode('n', { zone: 'za', cpu: '1', ready: false }),
    told: ['weight'],
  },
  { title: 'the CPUs', after: exampleNode('n', { zone: 'za', cpu: '2' }), told: ['weight'] },
];

for (const { title, after, told: expected } of updates) {
  test(`followNodes() on a change of ${title} tells [${expected}]`, () => {
    const { told, handler } = start();
    handler.update(node, after);
    assert.deepEqual(told, expected);
  });
}

test('podNode() files a pod under its node, if it has one', () => {
  assert.deepEqual(podNode(exampleBackend('p')), ['n1']);
  assert.deepEqual(podNode(exampleBackend('p', { spec: { nodeName: '' } })), []);
});

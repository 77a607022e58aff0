import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { nodeNameOf, portForwardPath, streamPath } from './connect-options.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'web' },
  spec: { nodeName: 'node-1', containers: [{ name: 'app' }] },
  status: {},
} as unknown as Pod;
const query = (text: string): URLSearchParams => new URLSearchParams(text);

const streams = [
  [
    'exec',
    'command=sh&command=a b&stdin=true&stdout=1&tty=1',
    'input=1&output=1&tty=1&command=sh&command=a+b',
  ],
  ['exec', 'command=ls&stderr=true&stdin=false&stdout=0&container=app', 'error=1&command=ls'],
  ['attach', 'command=ls&stdout=true', 'output=1'],
] as const;
for (const [kind, search, passed] of streams) {
  test(`streamPath() asks the node for ${kind} with ${search}`, () => {
    assert.equal(streamPath(kind, pod, query(search)), `/${kind}/ns/web/app?${passed}`);
  });
}

test('portForwardPath() takes ports repeated or in one, or none', () => {
  assert.equal(
    portForwardPath(pod, query('ports=80&ports=81,82')),
    '/portForward/ns/web?port=80&port=81&port=82',
  );
  assert.equal(portForwardPath(pod, query('')), '/portForward/ns/web');
  assert.throws(() => portForwardPath(pod, query('ports=http')), /parsing "http": invalid syntax/);
});

test('nodeNameOf() needs a node', () => {
  assert.equal(nodeNameOf(pod), 'node-1');
  const waiting = { ...pod, spec: { containers: [] } } as unknown as Pod;
  assert.throws(() => nodeNameOf(waiting), /pod web does not have a host assigned/);
});

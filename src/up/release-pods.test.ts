import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { ToNodeThread } from './node-messages.ts';
import { createReleases } from './release-pods.ts';

function makeNodes(...names: readonly string[]) {
  return names.map((name) => {
    const sent: ToNodeThread[] = [];
    return { name, sent, send: (message: ToNodeThread) => void sent.push(message) };
  });
}

const isReleased = ({ sent }: { readonly sent: readonly ToNodeThread[] }): boolean =>
  sent.some(({ kind }) => kind === 'released');

test('createReleases() releases a pod when the rules of all nodes have dropped it in two rounds', async () => {
  const clock = createFakeClock();
  const nodes = makeNodes('node-1', 'node-2');
  const [own, other] = nodes;
  assert.ok(own && other);
  const releases = createReleases({ clock, nodes: () => nodes });
  releases.begin(own, 7, ['10.244.0.2']);
  assert.deepEqual(other.sent, [{ kind: 'watch', id: 1, ips: ['10.244.0.2'] }]);
  releases.unrouted(own, 1);
  await clock.advance(2000);
  releases.unrouted(other, 1);
  await clock.advance(1500);
  // A proxy may have added the pod meanwhile, if it was ready only for a moment.
  assert.deepEqual(other.sent.at(-1), { kind: 'watch', id: 2, ips: ['10.244.0.2'] });
  releases.unrouted(own, 2);
  await clock.advance(2000);
  assert.equal(isReleased(own), false);
  releases.unrouted(other, 2);
  await clock.advance(0);
  assert.deepEqual(own.sent.at(-1), { kind: 'released', id: 7 });
});

test('createReleases() releases a pod after a timeout when a node does not respond', async () => {
  const clock = createFakeClock();
  const nodes = makeNodes('node-1', 'node-2');
  const [own, other] = nodes;
  assert.ok(own && other);
  const releases = createReleases({ clock, nodes: () => nodes });
  releases.begin(own, 7, ['10.244.0.2']);
  releases.unrouted(own, 1);
  await clock.advance(10_000);
  assert.equal(isReleased(own), true);
  assert.deepEqual(other.sent.at(-1), { kind: 'unwatch', id: 1 });
});

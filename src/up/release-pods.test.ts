import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { ToNodeThread } from './node-messages.ts';
import { createReleases } from './release-pods.ts';

function makeNodes(...names: readonly string[]) {
  return names.map((name) => {
    const told: ToNodeThread[] = [];
    return { name, told, send: (message: ToNodeThread) => void told.push(message) };
  });
}

const isReleased = ({ told }: { readonly told: readonly ToNodeThread[] }): boolean =>
  told.some(({ kind }) => kind === 'released');

test('a pod is released when all nodes have let go of it, twice', async () => {
  const clock = createFakeClock();
  const nodes = makeNodes('node-1', 'node-2');
  const [home, other] = nodes;
  assert.ok(home && other);
  const releases = createReleases({ clock, nodes: () => nodes });
  releases.begin(home, 7, ['10.244.0.2']);
  assert.deepEqual(other.told, [{ kind: 'watch', id: 1, ips: ['10.244.0.2'] }]);
  releases.letGo(home, 1);
  await clock.advance(2000);
  releases.letGo(other, 1);
  await clock.advance(1500);
  // A proxy may have written it meanwhile: one that was not ready for long.
  assert.deepEqual(other.told.at(-1), { kind: 'watch', id: 2, ips: ['10.244.0.2'] });
  releases.letGo(home, 2);
  await clock.advance(2000);
  assert.equal(isReleased(home), false);
  releases.letGo(other, 2);
  await clock.advance(0);
  assert.deepEqual(home.told.at(-1), { kind: 'released', id: 7 });
});

test('a node that never answers does not keep a pod from ending', async () => {
  const clock = createFakeClock();
  const nodes = makeNodes('node-1', 'node-2');
  const [home, other] = nodes;
  assert.ok(home && other);
  const releases = createReleases({ clock, nodes: () => nodes });
  releases.begin(home, 7, ['10.244.0.2']);
  releases.letGo(home, 1);
  await clock.advance(10_000);
  assert.equal(isReleased(home), true);
  assert.deepEqual(other.told.at(-1), { kind: 'unwatch', id: 1 });
});

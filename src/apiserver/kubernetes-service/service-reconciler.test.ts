import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { silentLog } from '../../observe/log.ts';
import { type Cached, type Change, createResourceCache } from '../cache/resource-cache.ts';
import type { ApiContext } from '../context.ts';
import { startServiceReconciler } from './service-reconciler.ts';

const cached = (name: string, namespace = ''): Cached => ({
  key: `${namespace}/${name}`,
  revision: 1,
  object: { kind: 'Any', apiVersion: 'v1', metadata: { name, namespace } },
  json: Buffer.alloc(0),
  prefixLength: 0,
  dropObject() {},
});

/** As the caches name objects, less what is the same for all of a resource. */
const codec = { key: (namespace: string, name: string) => `${namespace}/${name}` };

type World = {
  readonly change: (resource: string, current: Cached, type?: Change['type']) => void;
  readonly repairs: () => number;
  readonly fail: (times: number) => void;
  readonly comes: () => void;
  readonly left: () => boolean;
  readonly stop: () => Promise<void>;
};

function start(isSoleWriter = true): World {
  const caches = new Map<string, ReturnType<typeof createResourceCache>>();
  const cacheOf = (name: string) => {
    const cache = caches.get(name) ?? createResourceCache();
    caches.set(name, cache);
    return cache;
  };
  const context = {
    store: { isSoleWriter },
    resources: { of: (name: string) => ({ cache: cacheOf(name), codec }) },
  } as unknown as ApiContext;
  let repairs = 0;
  let failures = 0;
  let hasLeft = false;
  let comes = (): void => {};
  const stop = startServiceReconciler({
    context,
    servers: {
      all: async () => [],
      listen: (listener) => {
        comes = listener;
      },
      leave: async () => {
        hasLeft = true;
      },
    },
    async repair() {
      repairs += 1;
      failures -= 1;
      if (failures >= 0) throw new Error('not now');
    },
    log: silentLog,
  });
  return {
    change: (resource, current, type = 'DELETED') =>
      cacheOf(resource).apply({ type, revision: 2, current }),
    repairs: () => repairs,
    fail: (times) => {
      failures = times;
    },
    comes: () => comes(),
    left: () => hasLeft,
    stop,
  };
}

const settled = async (): Promise<void> => {
  for (let nextIteration = 0; nextIteration < 5; nextIteration += 1) await Promise.resolve();
};

const watched: readonly [string, Cached, number][] = [
  ['services', cached('kubernetes', 'default'), 1],
  ['endpoints', cached('kubernetes', 'default'), 1],
  ['endpointslices.discovery.k8s.io', cached('kubernetes', 'default'), 1],
  ['servicecidrs.networking.k8s.io', cached('kubernetes'), 1],
  ['services', cached('kubernetes', 'other'), 0],
  ['services', cached('web', 'default'), 0],
  ['servicecidrs.networking.k8s.io', cached('extra'), 0],
];

for (const [resource, object, wanted] of watched) {
  const does = wanted === 1 ? 'puts back' : 'leaves';
  test(`startServiceReconciler() ${does} ${resource} ${object.key} within ten seconds (KSV-04, IPA-19)`, async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const world = start();
    world.change(resource, object);
    assert.equal(world.repairs(), 0, 'the delete can be observed first');
    mock.timers.tick(9999);
    assert.equal(world.repairs(), wanted);
    await world.stop();
    mock.timers.reset();
  });
}

test('startServiceReconciler() retries after a failure, and stops (KSV-04)', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const world = start();
  world.fail(2);
  world.change('services', cached('kubernetes', 'default'));
  for (let round = 0; round < 4; round += 1) {
    mock.timers.tick(5000);
    await settled();
  }
  assert.equal(world.repairs(), 3);
  world.change('services', cached('kubernetes', 'default'));
  await world.stop();
  mock.timers.tick(60_000);
  assert.equal(world.repairs(), 3);
  mock.timers.reset();
});

test('startServiceReconciler() follows the server leases at once, and removes its own address on stop (KSV-05, KSV-07)', async () => {
  const shared = start(false);
  shared.comes();
  assert.equal(shared.repairs(), 1);
  await shared.stop();
  assert.deepEqual([shared.left(), shared.repairs()], [true, 2]);
  const alone = start();
  await alone.stop();
  assert.deepEqual([alone.left(), alone.repairs()], [true, 0], 'the last one stays in the list');
});

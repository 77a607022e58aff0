import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LocalImage } from './image-store.ts';
import { selectGarbage } from './select-garbage.ts';

const minute = 60_000;
const now = 1000 * minute;

const image = (id: string, lastUsedMinutesAgo: number, pulledMinutesAgo = 500): LocalImage => ({
  ...{ id, names: [], digests: [], sizeBytes: 1, layers: [] },
  config: { env: [], volumes: [], exposedPorts: [], labels: {}, architecture: '', os: '' },
  pulledAt: now - pulledMinutesAgo * minute,
  lastUsed: now - lastUsedMinutesAgo * minute,
});

const images = [image('b', 20), image('a', 30), image('used', 90), image('new', 1, 1)];
const defaults = {
  ...{ highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 2 * minute, maxAgeMs: 0 },
  ...{ now, inUse: new Set(['used']) },
};
const disk = (usedPercent: number) => ({
  capacityBytes: 1000,
  availableBytes: 1000 - usedPercent * 10,
});
const ids = (list: readonly LocalImage[]): readonly string[] => list.map(({ id }) => id);

describe('selectGarbage()', () => {
  it('removes nothing below the high threshold', () => {
    const plan = selectGarbage(images, disk(84), defaults);
    assert.deepEqual([ids(plan.candidates), plan.wantedBytes, plan.usedPercent], [[], 0, 84]);
  });

  it('removes from the one that is unused for longest, down to the low threshold', () => {
    const plan = selectGarbage(images, disk(85), defaults);
    assert.deepEqual(ids(plan.candidates), ['a', 'b']);
    assert.equal(plan.wantedBytes, 50);
  });

  it('removes those that are too old, whatever the disk', () => {
    const plan = selectGarbage(images, disk(10), { ...defaults, maxAgeMs: 25 * minute });
    assert.deepEqual([ids(plan.old), ids(plan.candidates)], [['a'], []]);
  });

  it('removes none twice', () => {
    const plan = selectGarbage(images, disk(90), { ...defaults, maxAgeMs: 25 * minute });
    assert.deepEqual([ids(plan.old), ids(plan.candidates)], [['a'], ['b']]);
  });

  it('takes a disk without a size for empty', () => {
    const plan = selectGarbage(images, { capacityBytes: 0, availableBytes: 0 }, defaults);
    assert.deepEqual([plan.usedPercent, plan.wantedBytes], [0, 0]);
  });
});

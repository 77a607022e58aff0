import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Revisions } from './position.ts';
import { createPositionTracker, minPosition } from './position-tracker.ts';

const at = (services: number, slices = services): Revisions => ({ services, slices });

function start() {
  const world = { time: 1000, seen: at(0) };
  const tracker = createPositionTracker({ seen: () => world.seen, now: () => world.time });
  const arrive = (revision: number): void => {
    world.seen = at(revision);
    tracker.changed();
  };
  const sync = (): void => {
    tracker.begin();
    tracker.applied();
  };
  return { world, tracker, arrive, sync };
}

describe('createPositionTracker()', () => {
  it('has nothing in effect before the first sync', () => {
    const { world, tracker } = start();
    world.seen = at(5);
    assert.deepEqual(tracker.position(at(5)), { applied: at(0) });
  });

  it('says since when a revision is in effect', () => {
    const { world, tracker, arrive, sync } = start();
    for (const revision of [5, 8, 9]) {
      arrive(revision);
      sync();
      world.time += 100;
    }
    assert.deepEqual(tracker.position(at(5)), { applied: at(9), ageMs: 300 });
    assert.deepEqual(tracker.position(at(7)), { applied: at(9), ageMs: 200 });
    assert.deepEqual(tracker.position(at(9)), { applied: at(9), ageMs: 100 });
    assert.deepEqual(tracker.position(at(10)), { applied: at(9) });
  });

  it('does not count what arrives during a sync, nor what a failed one took', () => {
    const { world, tracker, arrive, sync } = start();
    arrive(5);
    sync();
    arrive(6);
    world.time += 10;
    tracker.begin();
    arrive(7);
    world.time += 10;
    assert.deepEqual(tracker.position(at(6)), { applied: at(5), waitingMs: 20 });
    tracker.applied();
    assert.deepEqual(tracker.position(at(7)), { applied: at(6), waitingMs: 10 });
    tracker.begin();
    tracker.failed();
    world.time += 10;
    assert.deepEqual(tracker.position(at(7)), { applied: at(6), waitingMs: 20 });
    sync();
    assert.deepEqual(tracker.position(at(7)), { applied: at(7), ageMs: 0 });
  });

  it('has changes in effect that need no sync', () => {
    const { world, tracker, arrive, sync } = start();
    arrive(5);
    sync();
    world.seen = at(9);
    world.time += 50;
    assert.deepEqual(tracker.position(at(9)), { applied: at(9), ageMs: 50 });
  });

  it('compares Services and EndpointSlices each with their own', () => {
    const { world, tracker, sync } = start();
    world.seen = at(20, 5);
    sync();
    assert.deepEqual(tracker.position(at(10, 6)), { applied: at(20, 5) });
    assert.equal(tracker.position(at(20, 5)).ageMs, 0);
  });

  it('remembers a bounded number of syncs, and says when it was longer', () => {
    const { world, tracker, arrive, sync } = start();
    for (let revision = 1; revision <= 1000; revision++) {
      arrive(revision);
      sync();
      sync();
      world.time += 1;
    }
    assert.deepEqual(tracker.position(at(1)), { applied: at(1000), ageMs: 256, isOlder: true });
    assert.deepEqual(tracker.position(at(999)), { applied: at(1000), ageMs: 2 });
  });
});

describe('minPosition()', () => {
  it('is what is in effect everywhere', () => {
    const all = [
      { applied: at(5, 9), ageMs: 10 },
      { applied: at(7, 8), ageMs: 20, isOlder: true, waitingMs: 1 },
    ];
    assert.deepEqual(minPosition(all), {
      ...{ applied: at(5, 8), ageMs: 10, isOlder: true, waitingMs: 1 },
    });
    assert.deepEqual(minPosition([...all, { applied: at(6), waitingMs: 4 }]), {
      applied: at(5, 6),
      waitingMs: 4,
    });
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimLoopback } from './run-claims.ts';

/** A machine on which others have claimed what `isHeld` says. */
function machine(isTaken: (name: string) => boolean) {
  const names = new Set<string>();
  const claim = async (name: string) => {
    if (isTaken(name) || names.has(name)) return undefined;
    names.add(name);
    return { release: () => names.delete(name) };
  };
  return { names, claim };
}

test('claimLoopback() claims the preferred address, or the next that is free', async () => {
  const { names, claim } = machine((name) => / 127\.(0\.0\.[12]|96\.0\.0\/16)$/.test(name));
  const loopback = await claimLoopback(claim);
  assert.deepEqual(loopback.nodePorts, { value: '127.0.0.3', isShared: false });
  assert.deepEqual(await loopback.octet(96), { value: 97, isShared: false });
  assert.deepEqual(await loopback.octet(254), { value: 254, isShared: false });
  assert.deepEqual(await loopback.octet(254), { value: 1, isShared: false });
  loopback.release();
  assert.equal(names.size, 0);
});

test('claimLoopback() returns a shared address if another user has claimed them all', async () => {
  let attempts = 0;
  const { claim } = machine(() => {
    attempts += 1;
    return true;
  });
  const loopback = await claimLoopback(claim);
  assert.deepEqual(loopback.nodePorts, { value: '127.0.0.1', isShared: true });
  assert.deepEqual(await loopback.octet(96), { value: 96, isShared: true });
  assert.equal(attempts, 200);
});

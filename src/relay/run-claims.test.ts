import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimLoopback } from './run-claims.ts';

/** A machine on which others have claimed what `isHeld` says. */
function machine(isHeld: (name: string) => boolean) {
  const names = new Set<string>();
  const claim = async (name: string) => {
    if (isHeld(name) || names.has(name)) return undefined;
    names.add(name);
    return { release: () => names.delete(name) };
  };
  return { names, claim };
}

test('claimLoopback() takes what is asked for, or the next that is free', async () => {
  const { names, claim } = machine((name) => / 127\.(0\.0\.[12]|96\.0\.0\/16)$/.test(name));
  const claims = await claimLoopback(claim);
  assert.deepEqual(claims.nodePorts, { value: '127.0.0.3', isShared: false });
  assert.deepEqual(await claims.octet(96), { value: 97, isShared: false });
  assert.deepEqual(await claims.octet(254), { value: 254, isShared: false });
  assert.deepEqual(await claims.octet(254), { value: 1, isShared: false });
  claims.release();
  assert.equal(names.size, 0);
});

test('claimLoopback() says that an address is shared where another user has claimed them all', async () => {
  let asked = 0;
  const { claim } = machine(() => {
    asked += 1;
    return true;
  });
  const claims = await claimLoopback(claim);
  assert.deepEqual(claims.nodePorts, { value: '127.0.0.1', isShared: true });
  assert.deepEqual(await claims.octet(96), { value: 96, isShared: true });
  assert.equal(asked, 200);
});

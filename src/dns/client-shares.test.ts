import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientShares } from './client-shares.ts';

function beginAll(shares: ReturnType<typeof createClientShares>, client: string): number {
  let begun = 0;
  while (shares.mayBegin(client)) {
    shares.begin(client);
    begun += 1;
  }
  return begun;
}

test('mayBegin() limits one client and leaves the rest to others', () => {
  const shares = createClientShares(1000);
  assert.equal(beginAll(shares, 'a'), 200);
  assert.ok(shares.mayBegin('b'));
  shares.end('a');
  assert.ok(shares.mayBegin('a'));
});

test('mayBegin() leaves a share for a new client', () => {
  const shares = createClientShares(1000);
  for (let n = 0; n < 20; n += 1) {
    assert.ok(beginAll(shares, `client-${n}`) > 0, `client ${n}`);
  }
  assert.ok(shares.mayBegin('new'));
});

test('mayBegin() limits one client further, and leaves a share for a new one', () => {
  const shares = createClientShares(1000, 100);
  assert.equal(beginAll(shares, 'a'), 100);
  for (let n = 0; n < 20; n += 1) assert.ok(beginAll(shares, `client-${n}`) <= 100);
  assert.ok(shares.mayBegin('new'));
});

test('mayBegin() limits all clients together', () => {
  const shares = createClientShares(10);
  let begun = 0;
  for (let n = 0; n < 100; n += 1) begun += beginAll(shares, `client-${n}`);
  assert.equal(begun, 10);
  for (let n = 0; n < 100; n += 1) assert.equal(shares.mayBegin(`client-${n}`), false);
});

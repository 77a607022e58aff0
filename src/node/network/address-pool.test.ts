import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, parseCidr } from '../../ip/cidr.ts';
import { createAddressPool, gatewayOf, nextFree, RangeUsedUpError } from './address-pool.ts';

const range = (text: string): Cidr => {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
};
const both = [range('10.244.1.0/24'), range('fd44:0:0:1::/64')];
const small = [range('10.0.0.0/29')];

test('take() gives one address of each range, behind the gateway', () => {
  const pool = createAddressPool();
  assert.deepEqual(both.map(gatewayOf), ['10.244.1.1', 'fd44:0:0:1::1']);
  assert.deepEqual(pool.take('a', both), ['10.244.1.2', 'fd44:0:0:1::2']);
  assert.deepEqual(pool.take('b', both), ['10.244.1.3', 'fd44:0:0:1::3']);
  assert.deepEqual(pool.take('a', both), ['10.244.1.2', 'fd44:0:0:1::2']);
});

test('an address rests until the others had their turn', () => {
  const pool = createAddressPool();
  const taken = ['a', 'b', 'c'].map((uid) => pool.take(uid, small)[0]);
  assert.deepEqual(taken, ['10.0.0.2', '10.0.0.3', '10.0.0.4']);
  pool.release('a');
  assert.deepEqual(pool.take('d', small), ['10.0.0.5']);
  assert.deepEqual(pool.take('e', small), ['10.0.0.6']);
  assert.deepEqual(pool.take('f', small), ['10.0.0.2']);
});

test('take() says when the range is used up, and goes on when an address comes back', () => {
  const pool = createAddressPool();
  for (const uid of ['a', 'b', 'c', 'd', 'e']) pool.take(uid, small);
  assert.throws(
    () => pool.take('f', small),
    new RangeUsedUpError(range('10.0.0.0/29')),
    'neither the network, the gateway nor the broadcast address is given',
  );
  pool.release('c');
  assert.deepEqual(pool.take('f', small), ['10.0.0.4']);
});

test('what a failed take() took of the other family is not lost', () => {
  const pool = createAddressPool();
  const ranges = [range('fd44::/64'), ...small];
  for (const uid of ['a', 'b', 'c', 'd', 'e']) pool.take(uid, ranges);
  assert.throws(() => pool.take('f', ranges), RangeUsedUpError);
  pool.release('a');
  assert.deepEqual(pool.take('f', ranges)[1], '10.0.0.2');
});

test('after a restart pods have the addresses that they had', () => {
  const pool = createAddressPool();
  pool.reserve('old', ['10.244.1.9', 'fd44:0:0:1::7']);
  assert.deepEqual(pool.take('new', both), ['10.244.1.10', 'fd44:0:0:1::8']);
  assert.deepEqual(pool.take('old', both), ['10.244.1.9', 'fd44:0:0:1::7']);
});

const strange = [
  ['of another range', ['10.9.9.9', 'fd44:0:0:1::7']],
  ['of one family only', ['10.244.1.9']],
  ['of the gateway', ['10.244.1.1', 'fd44:0:0:1::7']],
] as const;
for (const [name, ips] of strange) {
  test(`reserved addresses ${name} are given up`, () => {
    const pool = createAddressPool();
    pool.reserve('old', ips);
    const taken = pool.take('old', both);
    assert.equal(taken.length, 2);
    assert.notDeepEqual(taken, ips);
    assert.ok(nextFree(range('10.244.1.0/24'), undefined, new Set(taken)) !== undefined);
  });
}

test('two pods that claim one address do not both get it', () => {
  const pool = createAddressPool();
  pool.reserve('a', ['10.0.0.4']);
  pool.reserve('b', ['10.0.0.4']);
  assert.deepEqual(pool.take('a', small), ['10.0.0.4']);
  assert.deepEqual(pool.take('b', small), ['10.0.0.5']);
});

test('a large range is no slower', () => {
  const pool = createAddressPool();
  const wide = [range('fd44::/48')];
  assert.deepEqual(pool.take('a', wide), ['fd44::2']);
});

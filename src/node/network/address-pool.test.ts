import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, parseCidr } from '../../ip/cidr.ts';
import {
  createAddressPool,
  gatewayOf,
  nextFreeAddress,
  RangeExhaustedError,
} from './address-pool.ts';

const range = (text: string): Cidr => {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
};
const both = [range('10.244.1.0/24'), range('fd44:0:0:1::/64')];
const small = [range('10.0.0.0/29')];

test('allocate() returns one address of each range, after the gateway', () => {
  const pool = createAddressPool();
  assert.deepEqual(both.map(gatewayOf), ['10.244.1.1', 'fd44:0:0:1::1']);
  assert.deepEqual(pool.allocate('a', both), ['10.244.1.2', 'fd44:0:0:1::2']);
  assert.deepEqual(pool.allocate('b', both), ['10.244.1.3', 'fd44:0:0:1::3']);
  assert.deepEqual(pool.allocate('a', both), ['10.244.1.2', 'fd44:0:0:1::2']);
});

test('allocate() reuses a released address last', () => {
  const pool = createAddressPool();
  const allocated = ['a', 'b', 'c'].map((uid) => pool.allocate(uid, small)[0]);
  assert.deepEqual(allocated, ['10.0.0.2', '10.0.0.3', '10.0.0.4']);
  pool.release('a');
  assert.deepEqual(pool.allocate('d', small), ['10.0.0.5']);
  assert.deepEqual(pool.allocate('e', small), ['10.0.0.6']);
  assert.deepEqual(pool.allocate('f', small), ['10.0.0.2']);
});

test('allocate() throws when the range is exhausted, until an address is released', () => {
  const pool = createAddressPool();
  for (const uid of ['a', 'b', 'c', 'd', 'e']) pool.allocate(uid, small);
  assert.throws(
    () => pool.allocate('f', small),
    new RangeExhaustedError(range('10.0.0.0/29')),
    'network, gateway and broadcast address are not allocated',
  );
  pool.release('c');
  assert.deepEqual(pool.allocate('f', small), ['10.0.0.4']);
});

test('allocate() does not leak an address of one family when the other is exhausted', () => {
  const pool = createAddressPool();
  const ranges = [range('fd44::/64'), ...small];
  for (const uid of ['a', 'b', 'c', 'd', 'e']) pool.allocate(uid, ranges);
  assert.throws(() => pool.allocate('f', ranges), RangeExhaustedError);
  pool.release('a');
  assert.deepEqual(pool.allocate('f', ranges)[1], '10.0.0.2');
});

test('reserve() keeps the addresses of pods across a restart', () => {
  const pool = createAddressPool();
  pool.reserve('old', ['10.244.1.9', 'fd44:0:0:1::7']);
  assert.deepEqual(pool.allocate('new', both), ['10.244.1.10', 'fd44:0:0:1::8']);
  assert.deepEqual(pool.allocate('old', both), ['10.244.1.9', 'fd44:0:0:1::7']);
});

const invalid = [
  ['of another range', ['10.9.9.9', 'fd44:0:0:1::7']],
  ['of one family only', ['10.244.1.9']],
  ['of the gateway', ['10.244.1.1', 'fd44:0:0:1::7']],
] as const;
for (const [name, ips] of invalid) {
  test(`allocate() replaces reserved addresses ${name}`, () => {
    const pool = createAddressPool();
    pool.reserve('old', ips);
    const allocated = pool.allocate('old', both);
    assert.equal(allocated.length, 2);
    assert.notDeepEqual(allocated, ips);
    assert.ok(nextFreeAddress(range('10.244.1.0/24'), undefined, new Set(allocated)) !== undefined);
  });
}

test('reserve() refuses an address that another pod has', () => {
  const pool = createAddressPool();
  pool.reserve('a', ['10.0.0.4']);
  pool.reserve('b', ['10.0.0.4']);
  assert.deepEqual(pool.allocate('a', small), ['10.0.0.4']);
  assert.deepEqual(pool.allocate('b', small), ['10.0.0.5']);
});

test('allocate() handles a large range', () => {
  const pool = createAddressPool();
  const wide = [range('fd44::/48')];
  assert.deepEqual(pool.allocate('a', wide), ['fd44::2']);
});

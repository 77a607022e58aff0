import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAddress, parseAddress } from '../../../ip/address.ts';
import { createFreeSearch, parsePool, poolHas, poolSize } from './parse-pool.ts';

describe('parsePool()', () => {
  const cases: readonly [string, string][] = [
    ['192.0.2.0/29', '192.0.2.1-192.0.2.6'],
    ['192.0.2.8/31', '192.0.2.8-192.0.2.9'],
    ['192.0.2.8/32', '192.0.2.8-192.0.2.8'],
    ['192.0.2.8', '192.0.2.8-192.0.2.8'],
    ['192.0.2.0-192.0.2.255', '192.0.2.0-192.0.2.255'],
    ['2001:db8::/120', '2001:db8::1-2001:db8::ff'],
    ['2001:db8::7', '2001:db8::7-2001:db8::7'],
    [' 192.0.2.1 - 192.0.2.2 , 2001:db8::1 ,', '192.0.2.1-192.0.2.2,2001:db8::1-2001:db8::1'],
    ['', ''],
  ];
  for (const [text, want] of cases) {
    test(`"${text}" is "${want}"`, () => {
      const pool = parsePool(text);
      assert.ok(typeof pool !== 'string', String(pool));
      const ranges = pool.map(({ family, first, last }) =>
        [first, last].map((value) => formatAddress({ family, value })).join('-'),
      );
      assert.equal(ranges.join(), want);
    });
  }
  for (const text of [
    '192.0.2.1/33',
    '192.0.2',
    '192.0.2.9-192.0.2.1',
    'a-b',
    '192.0.2.0/30,192.0.2.2',
  ]) {
    test(`"${text}" is refused`, () => assert.equal(typeof parsePool(text), 'string'));
  }
});

test('createFreeSearch() finds the first that is free, also in a pool too large to look through', () => {
  const external = parsePool('192.0.2.0/30,2001:db8::/64,192.0.2.9');
  assert.ok(typeof external !== 'string');
  const search = createFreeSearch({ external, internal: [] });
  const taken = new Set(['192.0.2.1', '2001:db8::1', '2001:db8::2']);
  const find = (family: 'IPv4' | 'IPv6') =>
    search.find('external', family, (address) => taken.has(address));
  assert.equal(find('IPv4'), '192.0.2.2');
  assert.equal(find('IPv4'), '192.0.2.2');
  assert.equal(find('IPv6'), '2001:db8::3');
  taken.add('192.0.2.2');
  assert.equal(find('IPv4'), '192.0.2.9');
  taken.add('192.0.2.9');
  assert.equal(find('IPv4'), undefined);
  taken.delete('192.0.2.1');
  search.startOver();
  assert.equal(find('IPv4'), '192.0.2.1');
  assert.equal(
    search.find('internal', 'IPv4', () => false),
    undefined,
  );
});

test('poolSize() and poolHas() count and find through all ranges', () => {
  const pool = parsePool('192.0.2.0/30,2001:db8::/64,192.0.2.9');
  assert.ok(typeof pool !== 'string');
  assert.equal(poolSize(pool, 'IPv4'), 3n);
  assert.equal(poolSize(pool, 'IPv6'), 2n ** 64n - 1n);
  const has = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && poolHas(pool, address);
  };
  assert.deepEqual(['2001:db8::ffff', '192.0.2.9', '192.0.2.3'].map(has), [true, true, false]);
});

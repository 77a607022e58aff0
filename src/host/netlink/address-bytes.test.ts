import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressBytes,
  addressText,
  macAddressBytes,
  macAddressText,
  parsePrefix,
} from './address-bytes.ts';

const pairs = [
  ['0.0.0.0', '00000000'],
  ['10.96.0.1', '0a600001'],
  ['255.255.255.255', 'ffffffff'],
  ['::', '00000000000000000000000000000000'],
  ['fd00:96::1', 'fd000096000000000000000000000001'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffffffffffffffffffffffffffffffff'],
] as const;

for (const [text, hex] of pairs) {
  test(`addressBytes() and addressText() of ${text}`, () => {
    assert.equal(Buffer.from(addressBytes(text)).toString('hex'), hex);
    assert.equal(addressText(Buffer.from(hex, 'hex')), text);
  });
}

for (const text of [
  '',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '1..2.3',
  '1.2.3.',
  '.1.2.3',
  '1.2.3.4/8',
  '1.2.3.0004',
  '1.2.3.x',
  '-1.2.3.4',
  'fd00',
  ':::',
  'fd00::1::2',
]) {
  test(`addressBytes() refuses "${text}"`, () => {
    assert.throws(() => addressBytes(text), RangeError);
  });
}

test('parsePrefix() takes an address alone as the prefix of full length', () => {
  assert.deepEqual(parsePrefix('10.0.0.1'), {
    family: 'IPv4',
    bytes: Uint8Array.of(10, 0, 0, 1),
    length: 32,
  });
  assert.equal(parsePrefix('fd00::/8').length, 8);
  assert.equal(parsePrefix('fd00::').length, 128);
});

for (const text of ['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/x', 'fd00::/129']) {
  test(`parsePrefix() refuses "${text}"`, () => {
    assert.throws(() => parsePrefix(text), RangeError);
  });
}

test('hardware addresses', () => {
  assert.equal(macAddressText(macAddressBytes('02:00:00:AB:cd:0f')), '02:00:00:ab:cd:0f');
  assert.throws(() => macAddressBytes('02:00:00:ab:cd'), RangeError);
});

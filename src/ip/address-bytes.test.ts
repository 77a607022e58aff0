import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from './address.ts';
import { addressBytes, addressFromBytes } from './address-bytes.ts';

const cases: readonly [string, string][] = [
  ['10.96.0.1', '0a600001'],
  ['255.255.255.255', 'ffffffff'],
  ['::', '00000000000000000000000000000000'],
  ['fd00:96::10', 'fd000096000000000000000000000010'],
];

for (const [text, hex] of cases) {
  test(`addressBytes() of ${text} reads back as the same`, () => {
    const address = parseAddress(text);
    assert.ok(address);
    const bytes = addressBytes(address);
    assert.equal(Buffer.from(bytes).toString('hex'), hex);
    const back = addressFromBytes(bytes);
    assert.ok(back);
    assert.equal(formatAddress(back), text);
  });
}

test('addressFromBytes() knows no address of five bytes', () => {
  assert.equal(addressFromBytes(new Uint8Array(5)), undefined);
});

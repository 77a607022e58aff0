import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from './address.ts';
import {
  addressCount,
  type Cidr,
  containsAddress,
  containsCidr,
  formatCidr,
  isInRange,
  nthAddress,
  overlaps,
  parseCidr,
  parseCidrSloppy,
} from './cidr.ts';

const shown = (cidr: Cidr | undefined): string | undefined =>
  cidr === undefined ? undefined : formatCidr(cidr);

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}

const strictCases: readonly (readonly [string, string | undefined])[] = [
  ['10.96.0.0/16', '10.96.0.0/16'],
  ['10.96.1.2/16', '10.96.0.0/16'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['10.0.0.1/32', '10.0.0.1/32'],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0/08', undefined],
  ['10.0.0.0/+8', undefined],
  ['10.0.0.0/8/8', undefined],
  ['010.0.0.0/8', undefined],
  ['FD00:96::/108', 'fd00:96::/108'],
  ['fd00::/129', undefined],
];

for (const [text, expected] of strictCases) {
  test(`parseCidr() of ${text}`, () => assert.equal(shown(parseCidr(text)), expected));
}

const sloppyCases: readonly (readonly [string, string | undefined])[] = [
  ['010.0.0.0/08', '10.0.0.0/8'],
  ['::ffff:10.97.0.0/120', '10.97.0.0/24'],
  ['::ffff:10.97.0.0/64', '::/64'],
  ['10.0.0.0/33', undefined],
  ['x/8', undefined],
];

for (const [text, expected] of sloppyCases) {
  test(`parseCidrSloppy() of ${text}`, () => assert.equal(shown(parseCidrSloppy(text)), expected));
}

test('containsAddress() compares the prefix only', () => {
  const address = parseAddress('10.96.255.255');
  assert.ok(address);
  assert.equal(containsAddress(cidr('10.96.0.0/16'), address), true);
  assert.equal(containsAddress(cidr('10.97.0.0/16'), address), false);
  assert.equal(containsAddress(cidr('fd00::/8'), address), false);
  assert.equal(containsAddress(cidr('0.0.0.0/0'), address), true);
});

test('containsCidr() and overlaps()', () => {
  assert.equal(containsCidr(cidr('10.0.0.0/8'), cidr('10.96.0.0/16')), true);
  assert.equal(containsCidr(cidr('10.96.0.0/16'), cidr('10.0.0.0/8')), false);
  assert.equal(overlaps(cidr('10.96.0.0/16'), cidr('10.0.0.0/8')), true);
  assert.equal(overlaps(cidr('10.96.0.0/16'), cidr('10.97.0.0/16')), false);
  assert.equal(overlaps(cidr('0.0.0.0/0'), cidr('::/0')), false);
});

test('addressCount() and nthAddress()', () => {
  assert.equal(addressCount(cidr('10.96.0.0/24')), 256n);
  assert.equal(addressCount(cidr('10.96.0.1/32')), 1n);
  assert.equal(addressCount(cidr('fd00::/64')), 2n ** 64n);
  assert.equal(formatAddress(nthAddress(cidr('10.96.0.0/16'), 257n)), '10.96.1.1');
  assert.equal(formatAddress(nthAddress(cidr('fd00::/108'), 0xan)), 'fd00::a');
});

const rangeCases: readonly (readonly [title: string, address: string, range: string, boolean])[] = [
  ['an address inside', '10.1.2.3', '10.0.0.0/8', true],
  ['an address outside', '11.0.0.1', '10.0.0.0/8', false],
  ['an address as the range', '10.0.0.1', '10.0.0.1', true],
  ['another address as the range', '10.0.0.2', '10.0.0.1', false],
  ['IPv6', 'fd00::1', 'fd00::/64', true],
  ['another family', 'fd00::1', '0.0.0.0/0', false],
  ['no address', 'web', '0.0.0.0/0', false],
  ['no range', '10.0.0.1', 'web', false],
];

for (const [title, address, range, expected] of rangeCases) {
  test(`isInRange() is ${expected} for ${title}`, () => {
    assert.equal(isInRange(address, range), expected);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareAddresses,
  familyOf,
  formatAddress,
  isIPv6,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  parseAddress,
  parseAddressSloppy,
} from './address.ts';

const canonical = (text: string): string | undefined => {
  const address = parseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
};

const sloppy = (text: string): string | undefined => {
  const address = parseAddressSloppy(text);
  return address === undefined ? undefined : formatAddress(address);
};

const strictCases: readonly (readonly [string, string, string | undefined])[] = [
  ['IPv4', '10.96.0.1', '10.96.0.1'],
  ['IPv4, lowest', '0.0.0.0', '0.0.0.0'],
  ['IPv4, highest', '255.255.255.255', '255.255.255.255'],
  ['IPv4 with leading zeros', '010.0.0.1', undefined],
  ['IPv4 with an octet too large', '10.0.0.256', undefined],
  ['IPv4 with three octets', '10.0.1', undefined],
  ['IPv4 with an empty octet', '10..0.1', undefined],
  ['IPv4 with a space', ' 10.0.0.1', undefined],
  ['nothing', '', undefined],
  ['a name', 'abc', undefined],
  ['IPv6 unspecified', '::', '::'],
  ['IPv6 loopback', '::1', '::1'],
  ['IPv6 in full', '2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['IPv6 in capitals', 'FD00:96::D:2', 'fd00:96::d:2'],
  ['IPv6 whose first of two equal runs is shortened', '2001:0:0:1:0:0:2:3', '2001::1:0:0:2:3'],
  ['IPv6 with a single zero group', '2001:0:1:1:1:1:1:1', '2001:0:1:1:1:1:1:1'],
  ['IPv6 that ends in zeros', 'fd00:1::', 'fd00:1::'],
  ['IPv6 with leading zeros in a group', 'fd00:0001::1', 'fd00:1::1'],
  ['IPv6 with five digits in a group', 'fd00:00001::1', undefined],
  ['IPv6 with a dotted end', '64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
  ['IPv4-mapped', '::ffff:10.0.0.1', '::ffff:10.0.0.1'],
  ['IPv4-mapped in hex', '::ffff:a00:1', '::ffff:10.0.0.1'],
  ['IPv6 with a dotted middle', '::10.0.0.1:1', undefined],
  ['IPv6 with dots before the double colon', '10.0.0.1::', undefined],
  ['IPv6 with seven groups', '1:2:3:4:5:6:7', undefined],
  ['IPv6 with nine groups', '1:2:3:4:5:6:7:8:9', undefined],
  ['IPv6 whose double colon stands for nothing', '1:2:3:4::5:6:7:8', undefined],
  ['IPv6 with two double colons', '1::2::3', undefined],
  ['IPv6 with three colons', '1:::2', undefined],
  ['IPv6 with a single leading colon', ':1:2:3:4:5:6:7', undefined],
  ['IPv6 with a zone', 'fe80::1%eth0', undefined],
];

for (const [name, text, expected] of strictCases) {
  test(`parseAddress() reads ${name}`, () => assert.equal(canonical(text), expected));
}

const sloppyCases: readonly (readonly [string, string, string | undefined])[] = [
  ['leading zeros as decimal', '010.002.003.008', '10.2.3.8'],
  ['many leading zeros', '0000010.0.0.1', '10.0.0.1'],
  ['a mapped address as IPv4', '::ffff:1.2.3.4', '1.2.3.4'],
  ['a mapped address with leading zeros', '::ffff:01.02.03.04', '1.2.3.4'],
  ['long IPv6 groups', '0000fd00::00001', 'fd00::1'],
  ['an octet that is too large', '1.2.3.1000', undefined],
];

for (const [name, text, expected] of sloppyCases) {
  test(`parseAddressSloppy() reads ${name}`, () => assert.equal(sloppy(text), expected));
}

test('parseAddress() marks IPv4-mapped addresses', () => {
  assert.equal(parseAddress('::ffff:10.0.0.1')?.mapped, true);
  assert.equal(parseAddress('::fffe:10.0.0.1')?.mapped, undefined);
  assert.equal(parseAddress('10.0.0.1')?.mapped, undefined);
});

test('familyOf() returns the family', () => {
  assert.equal(familyOf('10.0.0.1'), 'IPv4');
  assert.equal(familyOf('fd00::1'), 'IPv6');
  assert.equal(familyOf('::ffff:10.0.0.1'), 'IPv4');
  assert.equal(familyOf('None'), undefined);
  assert.equal(isIPv6('fd00::1'), true);
});

test('compareAddresses() puts IPv4 first and orders by number', () => {
  const texts = ['fd00::1', '10.0.0.2', '10.0.0.10', '::1'];
  const sorted = texts
    .flatMap((t) => parseAddress(t) ?? [])
    .sort(compareAddresses)
    .map(formatAddress);
  assert.deepEqual(sorted, ['10.0.0.2', '10.0.0.10', '::1', 'fd00::1']);
});

const predicates: readonly (readonly [string, string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['127.255.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['169.254.1.1', 'link-local unicast'],
  ['fe80::1', 'link-local unicast'],
  ['febf::1', 'link-local unicast'],
  ['fec0::1', ''],
  ['224.0.0.255', 'link-local multicast'],
  ['224.0.1.0', ''],
  ['ff02::1', 'link-local multicast'],
  ['ff12::1', 'link-local multicast'],
  ['ff05::1', ''],
  ['10.0.0.1', ''],
];

for (const [text, expected] of predicates) {
  test(`address predicates of ${text}`, () => {
    const address = parseAddress(text);
    assert.ok(address !== undefined);
    const found = [
      isUnspecified(address) ? 'unspecified' : '',
      isLoopback(address) ? 'loopback' : '',
      isLinkLocalUnicast(address) ? 'link-local unicast' : '',
      isLinkLocalMulticast(address) ? 'link-local multicast' : '',
    ].join('');
    assert.equal(found, expected);
  });
}

test('parseAddress() and parseAddressSloppy() do not depend on previous calls', () => {
  const texts = ['10.0.0.1', '010.0.0.1', '10.0.0.1', '', '::ffff:10.0.0.1', '10.0.0.1'];
  assert.deepEqual(texts.map(canonical), [
    ...['10.0.0.1', undefined, '10.0.0.1', undefined, '::ffff:10.0.0.1', '10.0.0.1'],
  ]);
  assert.deepEqual(texts.map(sloppy), [
    ...['10.0.0.1', '10.0.0.1', '10.0.0.1', undefined, '10.0.0.1', '10.0.0.1'],
  ]);
});

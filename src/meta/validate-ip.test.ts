import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorBody } from './field-error.ts';
import {
  validateCanonicalCIDR,
  validateCIDR,
  validateIP,
  validateIPLegacy,
  warningsForCIDR,
  warningsForIP,
} from './validate-ip.ts';

const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const noCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const said = (value: string, text: string): string => `Invalid value: "${value}": ${text}`;

const addresses: readonly (readonly [string, string | undefined])[] = [
  ['10.0.0.1', undefined],
  ['FD00::1', undefined],
  ['1.2.3', noAddress],
  ['', noAddress],
  ['fe80::1%eth0', noAddress],
  ['198.51.100.07', 'must not have leading 0s'],
  ['::ffff:1.2.3.4', 'must not be an IPv4-mapped IPv6 address'],
];

for (const [value, text] of addresses) {
  test(`validateIPLegacy() of "${value}"`, () => {
    const expected = text === undefined ? [] : [said(value, text)];
    assert.deepEqual(validateIPLegacy('f', value).map(errorBody), expected);
    assert.deepEqual(validateIPLegacy('f', value, [value]), []);
  });
}

test('validateIP() requires the canonical form', () => {
  assert.deepEqual(validateIP('f', 'fd00::1'), []);
  assert.deepEqual(validateIP('f', 'FD00::1').map(errorBody), [
    said('FD00::1', 'must be in canonical form ("fd00::1")'),
  ]);
  assert.deepEqual(validateIP('f', 'x').map(errorBody), [said('x', noAddress)]);
});

const ranges: readonly (readonly [string, string | undefined])[] = [
  ['10.97.0.0/24', undefined],
  ['FD00::/64', undefined],
  ['x', noCidr],
  ['10.97.0.0', noCidr],
  ['10.97.0.0/33', noCidr],
  ['010.97.0.0/24', 'must not have leading 0s in IP or prefix length'],
  ['10.97.0.0/08', 'must not have leading 0s in IP or prefix length'],
  ['10.97.0.1/24', 'must not have bits set beyond the prefix length'],
  ['::ffff:10.97.0.0/120', 'must not have an IPv4-mapped IPv6 address'],
];

for (const [value, text] of ranges) {
  test(`validateCIDR() of "${value}"`, () => {
    const expected = text === undefined ? [] : [said(value, text)];
    assert.deepEqual(validateCIDR('f', value).map(errorBody), expected);
    assert.deepEqual(validateCIDR('f', value, [value]), []);
  });
}

test('validateCanonicalCIDR() requires the canonical form', () => {
  assert.deepEqual(validateCanonicalCIDR('f', 'fd00::/64'), []);
  assert.deepEqual(validateCanonicalCIDR('f', 'FD00::/64').map(errorBody), [
    said('FD00::/64', 'must be in canonical form ("fd00::/64")'),
  ]);
});

test('warningsForIP() suggests the canonical form', () => {
  assert.deepEqual(warningsForIP('f', '10.0.0.1'), []);
  assert.deepEqual(warningsForIP('f', 'nonsense'), []);
  assert.deepEqual(warningsForIP('f', '010.0.0.1'), [
    'f: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1"',
  ]);
  assert.deepEqual(warningsForIP('f', '::ffff:1.2.3.4'), [
    'f: non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"',
  ]);
  assert.deepEqual(warningsForIP('spec.clusterIPs[0]', 'fd00:96:0::d:2'), [
    'spec.clusterIPs[0]: IPv6 address "fd00:96:0::d:2" should be in RFC 5952 canonical format ("fd00:96::d:2")',
  ]);
});

test('warningsForCIDR() suggests the canonical form', () => {
  assert.deepEqual(warningsForCIDR('f', '10.0.0.0/8'), []);
  assert.deepEqual(warningsForCIDR('f', '10.0.0.1/8'), [
    'f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ]);
  assert.deepEqual(warningsForCIDR('f', '10.0.0.0/08'), [
    'f: non-standard CIDR value "10.0.0.0/08" will be considered invalid in a future Kubernetes release: use "10.0.0.0/8"',
  ]);
  assert.deepEqual(warningsForCIDR('f', 'FD00::/64'), [
    'f: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
  ]);
});

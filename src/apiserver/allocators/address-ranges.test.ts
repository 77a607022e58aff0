import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from '../../ip/address.ts';
import { parseCidr } from '../../ip/cidr.ts';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import { addressBands, addressRanges, createRangeIndex, offersAddress } from './address-ranges.ts';

function bandTexts(text: string): readonly string[] | undefined {
  const cidr = parseCidr(text);
  const bands = cidr && addressBands(cidr);
  if (cidr === undefined || bands === undefined) return undefined;
  const { first, upper, last } = bands;
  return [first, upper, last].map((value) => formatAddress({ family: cidr.family, value }));
}

const bands: readonly [string, readonly string[] | undefined][] = [
  ['10.96.0.0/24', ['10.96.0.1', '10.96.0.17', '10.96.0.254']],
  ['10.96.0.0/16', ['10.96.0.1', '10.96.1.1', '10.96.255.254']],
  ['10.96.0.0/20', ['10.96.0.1', '10.96.1.1', '10.96.15.254']],
  ['10.96.0.0/25', ['10.96.0.1', '10.96.0.17', '10.96.0.126']],
  ['10.96.0.0/27', ['10.96.0.1', '10.96.0.17', '10.96.0.30']],
  ['10.96.0.0/28', ['10.96.0.1', '10.96.0.1', '10.96.0.14']],
  ['10.96.0.0/31', undefined],
  ['10.96.0.0/32', undefined],
  ['fd00::/108', ['fd00::1', 'fd00::101', 'fd00::f:ffff']],
  ['fd00::/127', ['fd00::1', 'fd00::1', 'fd00::1']],
  ['fd00::/128', undefined],
  ['fd00::/64', ['fd00::1', 'fd00::101', 'fd00::ffff:ffff:ffff:ffff']],
  ['fd00::/63', undefined],
];

for (const [cidr, wanted] of bands) {
  test(`addressBands() of ${cidr} (IPA-03, IPA-04, IPA-05, IPA-06)`, () => {
    assert.deepEqual(bandTexts(cidr), wanted);
  });
}

function range(name: string, created: string, more: Partial<ServiceCIDR> = {}): ServiceCIDR {
  return {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name, creationTimestamp: `${created}T00:00:00Z` },
    spec: { cidrs: [`10.${created.slice(-2)}.0.0/24`] },
    status: {},
    ...more,
  };
}

test('addressRanges() lists the older ranges first and leaves out those that are not ready (IPA-12, IPA-24)', () => {
  const going = range('going', '2026-01-20');
  const objects = [
    range('a', '2026-01-30'),
    range('z', '2026-01-10'),
    { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-02-01T00:00:00Z' } },
  ];
  const bases = addressRanges(objects).map(({ cidr }) =>
    formatAddress({ family: cidr.family, value: cidr.base }),
  );
  assert.deepEqual(bases, ['10.10.0.0', '10.30.0.0']);
});

test('offersAddress() leaves out the network and the broadcast address (IPA-03)', () => {
  const [only] = addressRanges([range('a', '2026-01-10')]);
  const offers = (text: string): boolean => {
    const address = parseAddress(text);
    return only !== undefined && address !== undefined && offersAddress(only, address);
  };
  const texts = ['10.10.0.0', '10.10.0.1', '10.10.0.254', '10.10.0.255', '10.10.1.1', 'fd00::1'];
  assert.deepEqual(texts.map(offers), [false, true, true, false, false, false]);
});

test('createRangeIndex() reads again only after a change (IPA-23)', () => {
  let revision = 1;
  let reads = 0;
  const ranges = createRangeIndex({
    get: () => undefined,
    list: () => {
      reads += 1;
      return [range('a', '2026-01-10')];
    },
    revision: () => revision,
  });
  assert.equal(ranges('IPv4').length, 1);
  assert.equal(ranges('IPv6').length, 0);
  assert.equal(reads, 1);
  revision = 2;
  ranges('IPv4');
  assert.equal(reads, 2);
});

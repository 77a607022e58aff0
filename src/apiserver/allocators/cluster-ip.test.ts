import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../ip/cidr.ts';
import type { AddressWish } from '../../kinds/service/allocation.ts';
import { sentService } from '../../kinds/service/example.ts';
import type { ServiceSpec } from '../../kinds/service/types.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { addressBands } from './address-ranges.ts';
import { type AddressSource, takeAddresses } from './cluster-ip.ts';

const range = (text: string) => {
  const cidr = parseCidr(text);
  const bands = cidr && addressBands(cidr);
  assert.ok(cidr && bands);
  return { cidr, bands };
};

function source(taken: readonly string[] = [], dryRun = false): AddressSource {
  const object = { kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', metadata: {} };
  return {
    reader: {
      get: (_resource, _namespace, name) => (taken.includes(name) ? object : undefined),
      list: () => [],
      revision: () => 0,
    },
    ranges: (family) => [range(family === 'IPv4' ? '10.96.0.0/30' : 'fd00::/126')],
    random: () => 0,
    newUid: () => 'uid-1',
    now: '2026-01-01T00:00:00Z',
    dryRun,
  };
}

const named: ObjectMeta = { name: 'web', namespace: 'default' };

type Asked = { readonly spec?: ServiceSpec; readonly wishes: readonly AddressWish[] };

function take({ spec = {}, wishes }: Asked, from: AddressSource, metadata = named): unknown {
  try {
    const { service, taken } = takeAddresses(sentService(spec, metadata), wishes, from);
    const { clusterIP, clusterIPs } = service.spec;
    return { clusterIP, clusterIPs, taken: taken.map((object) => object.metadata.name) };
  } catch (error) {
    if (isApiError(error)) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

const anyIPv4: Asked = { wishes: [{ index: 0, family: 'IPv4' }] };
const given = (address: string): Asked => ({
  spec: { clusterIP: address, clusterIPs: [address] },
  wishes: [{ index: 0, family: address.includes(':') ? 'IPv6' : 'IPv4', address }],
});

test('takeAddresses() finds a free address', () => {
  assert.deepEqual(take(anyIPv4, source(['10.96.0.1'])), {
    clusterIP: '10.96.0.2',
    clusterIPs: ['10.96.0.2'],
    taken: ['10.96.0.2'],
  });
});

test('takeAddresses() keeps a given address as written and takes its canonical form', () => {
  assert.deepEqual(take(given('FD00::0002'), source()), {
    clusterIP: 'FD00::0002',
    clusterIPs: ['FD00::0002'],
    taken: ['fd00::2'],
  });
  assert.match(String(take(given('FD00::0002'), source(['fd00::2']))), /already allocated/);
});

test('takeAddresses() adds a second address without touching the first', () => {
  const second: Asked = { ...given('10.1.1.1'), wishes: [{ index: 1, family: 'IPv6' }] };
  assert.deepEqual(take(second, source()), {
    clusterIP: '10.1.1.1',
    clusterIPs: ['10.1.1.1', 'fd00::1'],
    taken: ['fd00::1'],
  });
});

const invalid = 'Service "web" is invalid: spec.clusterIPs: Invalid value:';
const refusals: readonly [string, Asked, readonly string[], string][] = [
  [
    'an address that is taken',
    given('10.96.0.1'),
    ['10.96.0.1'],
    `422 ${invalid} ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated`,
  ],
  [
    'an address outside',
    given('10.97.0.1'),
    [],
    `422 ${invalid} ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided network does not match the current range`,
  ],
  [
    'the network address',
    given('10.96.0.0'),
    [],
    `422 ${invalid} ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided network does not match the current range`,
  ],
  [
    'any address of a full range',
    anyIPv4,
    ['10.96.0.1', '10.96.0.2'],
    '500 Internal error occurred: failed to allocate a serviceIP: range is full',
  ],
];

for (const [name, asked, taken, wanted] of refusals) {
  test(`takeAddresses() refuses ${name}`, () => {
    assert.equal(take(asked, source(taken)), wanted);
  });
}

test('takeAddresses() notices that a service has no name', () => {
  assert.equal(
    take(anyIPv4, source(), { namespace: 'default' }),
    '422 Service "" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: IPAddress.networking.k8s.io "10.96.0.1" is invalid: spec.parentRef.name: Required value',
  );
});

test('takeAddresses() looks in a dry run at the range only', () => {
  const dry = source(['10.96.0.1'], true);
  assert.deepEqual(take(anyIPv4, dry), {
    clusterIP: '10.96.0.0',
    clusterIPs: ['10.96.0.0'],
    taken: [],
  });
  assert.deepEqual(take(given('10.96.0.1'), dry), {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    taken: [],
  });
  assert.match(String(take(given('10.97.0.1'), dry)), /does not match the current range/);
});

test('takeAddresses() makes an IPAddress that names its Service', () => {
  const { taken } = takeAddresses(sentService({}, named), anyIPv4.wishes, source());
  assert.deepEqual(taken[0]?.spec, {
    parentRef: { resource: 'services', namespace: 'default', name: 'web' },
  });
  assert.deepEqual(taken[0]?.metadata.labels, {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  });
  assert.equal(taken[0]?.metadata.managedFields?.[0]?.manager, 'kube-apiserver');
});

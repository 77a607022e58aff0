import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../ip/address.ts';
import { parseCidr } from '../../ip/cidr.ts';
import type { AddressRequest } from '../../kinds/service/allocation.ts';
import { sentService } from '../../kinds/service/example.ts';
import type { ServiceSpec } from '../../kinds/service/types.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { type AddressRange, addressRange } from './address-ranges.ts';
import { type AddressSource, allocateAddresses } from './cluster-ip.ts';
import { createNumberSet } from './number-set.ts';

const range = (text: string): AddressRange => {
  const cidr = parseCidr(text);
  const found = cidr && addressRange(cidr);
  assert.ok(found);
  return found;
};

function source(taken: readonly string[] = [], dryRun = false): AddressSource {
  const object = { kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', metadata: {} };
  const numbers = createNumberSet();
  for (const text of taken) numbers.add(parseAddress(text)?.value ?? 0n);
  return {
    addresses: {
      firstFree: (_family, from, to) => numbers.firstGap(from, to),
      pending: { IPv4: new Set(), IPv6: new Set() },
    },
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

type RequestedService = {
  readonly spec?: ServiceSpec;
  readonly requests: readonly AddressRequest[];
};

function take(
  { spec = {}, requests }: RequestedService,
  from: AddressSource,
  metadata = named,
): unknown {
  try {
    const { service, taken } = allocateAddresses(sentService(spec, metadata), requests, from);
    const { clusterIP, clusterIPs } = service.spec;
    return { clusterIP, clusterIPs, taken: taken.map((object) => object.metadata.name) };
  } catch (error) {
    if (isApiError(error)) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

const anyIPv4: RequestedService = { requests: [{ index: 0, family: 'IPv4' }] };
const provided = (address: string): RequestedService => ({
  spec: { clusterIP: address, clusterIPs: [address] },
  requests: [{ index: 0, family: address.includes(':') ? 'IPv6' : 'IPv4', address }],
});

test('allocateAddresses() finds a free address (IPA-02)', () => {
  assert.deepEqual(take(anyIPv4, source(['10.96.0.1'])), {
    clusterIP: '10.96.0.2',
    clusterIPs: ['10.96.0.2'],
    taken: ['10.96.0.2'],
  });
});

test('allocateAddresses() keeps a given address as written and takes its canonical form (IPA-08, IPA-13)', () => {
  assert.deepEqual(take(provided('FD00::0002'), source()), {
    clusterIP: 'FD00::0002',
    clusterIPs: ['FD00::0002'],
    taken: ['fd00::2'],
  });
  assert.match(String(take(provided('FD00::0002'), source(['fd00::2']))), /already allocated/);
});

test('allocateAddresses() adds a second address without touching the first', () => {
  const second: RequestedService = {
    ...provided('10.1.1.1'),
    requests: [{ index: 1, family: 'IPv6' }],
  };
  assert.deepEqual(take(second, source()), {
    clusterIP: '10.1.1.1',
    clusterIPs: ['10.1.1.1', 'fd00::1'],
    taken: ['fd00::1'],
  });
});

const invalid = 'Service "web" is invalid: spec.clusterIPs: Invalid value:';
const refusals: readonly [string, RequestedService, readonly string[], string][] = [
  [
    'an address that is taken (IPA-09)',
    provided('10.96.0.1'),
    ['10.96.0.1'],
    `422 ${invalid} ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated`,
  ],
  [
    'an address outside (IPA-10)',
    provided('10.97.0.1'),
    [],
    `422 ${invalid} ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided network does not match the current range`,
  ],
  [
    'the network address (IPA-03)',
    provided('10.96.0.0'),
    [],
    `422 ${invalid} ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided network does not match the current range`,
  ],
  [
    'the broadcast address (IPA-03)',
    provided('10.96.0.3'),
    [],
    `422 ${invalid} ["10.96.0.3"]: failed to allocate IP 10.96.0.3: the provided network does not match the current range`,
  ],
  [
    'the network address of IPv6 (IPA-03)',
    provided('fd00::'),
    [],
    `422 ${invalid} ["fd00::"]: failed to allocate IP fd00::: the provided network does not match the current range`,
  ],
  [
    'any address of a full range (IPA-11)',
    anyIPv4,
    ['10.96.0.1', '10.96.0.2'],
    '500 Internal error occurred: failed to allocate a serviceIP: range is full',
  ],
];

for (const [name, requested, taken, wanted] of refusals) {
  test(`allocateAddresses() refuses ${name}`, () => {
    assert.equal(take(requested, source(taken)), wanted);
  });
}

test('allocateAddresses() notices that a service has no name', () => {
  assert.equal(
    take(anyIPv4, source(), { namespace: 'default' }),
    '422 Service "" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: IPAddress.networking.k8s.io "10.96.0.1" is invalid: spec.parentRef.name: Required value',
  );
});

test('allocateAddresses() looks in a dry run at the range only', () => {
  const dry = source(['10.96.0.1'], true);
  assert.deepEqual(take(anyIPv4, dry), {
    clusterIP: '10.96.0.0',
    clusterIPs: ['10.96.0.0'],
    taken: [],
  });
  assert.deepEqual(take(provided('10.96.0.1'), dry), {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    taken: [],
  });
  assert.equal(
    take(provided('10.97.0.1'), dry),
    `422 ${invalid} ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided IP (10.97.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/30`,
  );
});

test('allocateAddresses() gives the last address of an IPv6 range (IPA-03)', () => {
  assert.deepEqual(take(provided('fd00::3'), source()), {
    clusterIP: 'fd00::3',
    clusterIPs: ['fd00::3'],
    taken: ['fd00::3'],
  });
});

const noRange = (dryRun: boolean): AddressSource => ({ ...source([], dryRun), ranges: () => [] });

const rangeless: readonly [string, RequestedService, boolean, string][] = [
  [
    'a given address',
    provided('10.96.0.1'),
    false,
    `422 ${invalid} ["10.96.0.1"]: failed to allocate IP 10.96.0.1: the provided network does not match the current range`,
  ],
  [
    'any address',
    anyIPv4,
    false,
    '500 Internal error occurred: failed to allocate a serviceIP: range is full',
  ],
  [
    'a given address, in a dry run,',
    provided('10.96.0.1'),
    true,
    `422 ${invalid} ["10.96.0.1"]: failed to allocate IP 10.96.0.1: allocator not ready`,
  ],
  [
    'any address, in a dry run,',
    anyIPv4,
    true,
    '500 Internal error occurred: failed to allocate a serviceIP: allocator not ready',
  ],
];

for (const [what, requested, dryRun, wanted] of rangeless) {
  test(`allocateAddresses() refuses ${what} where no range is ready (IPA-12)`, () => {
    assert.equal(take(requested, noRange(dryRun)), wanted);
  });
}

test('allocateAddresses() goes on to the next range when one is full, and finds provided ones in any (IPA-22)', () => {
  const ranges = () => [range('10.96.0.0/30'), range('10.97.0.0/30'), range('10.97.0.0/29')];
  const from = { ...source(['10.96.0.1', '10.96.0.2']), ranges };
  assert.deepEqual(take(anyIPv4, from), {
    clusterIP: '10.97.0.1',
    clusterIPs: ['10.97.0.1'],
    taken: ['10.97.0.1'],
  });
  // Broadcast address of the second, an ordinary one of the third.
  assert.deepEqual(take(provided('10.97.0.3'), from), {
    clusterIP: '10.97.0.3',
    clusterIPs: ['10.97.0.3'],
    taken: ['10.97.0.3'],
  });
});

test('allocateAddresses() makes an IPAddress that names its Service (IPA-13)', () => {
  const { taken } = allocateAddresses(sentService({}, named), anyIPv4.requests, source());
  assert.deepEqual(taken[0]?.spec, {
    parentRef: { resource: 'services', namespace: 'default', name: 'web' },
  });
  assert.deepEqual(taken[0]?.metadata.labels, {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  });
  assert.equal(taken[0]?.metadata.managedFields?.[0]?.manager, 'kube-apiserver');
});

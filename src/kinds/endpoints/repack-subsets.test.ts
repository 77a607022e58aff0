import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repackSubsets } from './repack-subsets.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from './types.ts';

const at = (ip: string, uid?: string): EndpointAddress =>
  uid === undefined ? { ip } : { ip, targetRef: { kind: 'Pod', uid } };
const port = (number: number, name = '', protocol = 'TCP'): EndpointPort => ({
  ...(name === '' ? {} : { name }),
  port: number,
  protocol,
});

type Case = {
  readonly title: string;
  readonly given: readonly EndpointSubset[];
  readonly packed: readonly EndpointSubset[];
};

const cases: readonly Case[] = [
  { title: 'returns no subsets for none', given: [], packed: [] },
  {
    title: 'drops subsets without addresses',
    given: [{ ports: [port(80)] }],
    packed: [],
  },
  {
    title: 'joins addresses with the same port',
    given: [
      { addresses: [at('10.0.0.2')], ports: [port(80)] },
      { addresses: [at('10.0.0.1')], ports: [port(80)] },
    ],
    packed: [{ addresses: [at('10.0.0.1'), at('10.0.0.2')], ports: [port(80)] }],
  },
  {
    title: 'sorts addresses as text',
    given: [{ addresses: [at('10.0.0.9'), at('10.0.0.100'), at('10.0.0.10')], ports: [port(80)] }],
    packed: [{ addresses: [at('10.0.0.10'), at('10.0.0.100'), at('10.0.0.9')], ports: [port(80)] }],
  },
  {
    title: 'joins ports with the same addresses, in the order of their hashes',
    given: [
      { addresses: [at('10.0.0.1')], ports: [port(8053, 'dns-tcp')] },
      { addresses: [at('10.0.0.1')], ports: [port(8053, 'dns', 'UDP')] },
    ],
    packed: [
      { addresses: [at('10.0.0.1')], ports: [port(8053, 'dns', 'UDP'), port(8053, 'dns-tcp')] },
    ],
  },
  {
    title: 'keeps ready and not ready addresses of a port together',
    given: [
      { addresses: [at('10.0.0.1')], ports: [port(80)] },
      { notReadyAddresses: [at('10.0.0.2')], ports: [port(80)] },
    ],
    packed: [
      { addresses: [at('10.0.0.1')], notReadyAddresses: [at('10.0.0.2')], ports: [port(80)] },
    ],
  },
  {
    title: 'takes an address that is both for not ready',
    given: [
      { notReadyAddresses: [at('10.0.0.1')], ports: [port(80)] },
      { addresses: [at('10.0.0.1')], ports: [port(80)] },
    ],
    packed: [{ notReadyAddresses: [at('10.0.0.1')], ports: [port(80)] }],
  },
  {
    title: 'takes the same address twice for one, unless two pods have it',
    given: [{ addresses: [at('10.0.0.1', 'b'), at('10.0.0.1', 'a'), at('10.0.0.1', 'a')] }],
    packed: [{ addresses: [at('10.0.0.1', 'a'), at('10.0.0.1', 'b')] }],
  },
  {
    title: 'keeps addresses without ports',
    given: [{ addresses: [at('10.0.0.1')] }],
    packed: [{ addresses: [at('10.0.0.1')] }],
  },
];

for (const { title, given, packed } of cases) {
  test(`repackSubsets() ${title} (EPC-07, MIR-03)`, () =>
    assert.deepEqual(repackSubsets(given), packed));
}

test('repackSubsets() separates ports that not all addresses have, in any input order (EPC-07)', () => {
  const given = [
    { addresses: [at('10.0.0.1'), at('10.0.0.2')], ports: [port(80, 'a')] },
    { addresses: [at('10.0.0.2')], ports: [port(81, 'b')] },
    { notReadyAddresses: [at('10.0.0.1')], ports: [port(82, 'c')] },
  ];
  const packed = repackSubsets(given);
  const ips = (list: readonly EndpointAddress[] = []): string => list.map(({ ip }) => ip).join();
  const summary = packed.map(
    ({ addresses, notReadyAddresses, ports }) =>
      `${ports?.[0]?.name}: ${ips(addresses)} / ${ips(notReadyAddresses)}`,
  );
  assert.deepEqual(summary.sort(), ['a: 10.0.0.1,10.0.0.2 / ', 'b: 10.0.0.2 / ', 'c:  / 10.0.0.1']);
  assert.deepEqual(repackSubsets([...given].reverse()), packed);
});

test('repackSubsets() is idempotent (EPC-07)', () => {
  const packed = repackSubsets([
    { addresses: [at('10.0.0.3'), at('10.0.0.1')], ports: [port(80, 'a'), port(81, 'b')] },
    { addresses: [at('10.0.0.2')], ports: [port(81, 'b'), port(82, 'c')] },
  ]);
  assert.deepEqual(repackSubsets(packed), packed);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { endpointsByPort } from './endpoints.ts';
import { exampleEndpoint, exampleSlice } from './example-slice.ts';
import { createTrimmer } from './trim-objects.ts';

const endpoint = exampleEndpoint;
const trim = createTrimmer().slice;

function shown(slices: readonly EndpointSlice[], family: 'IPv4' | 'IPv6' = 'IPv4') {
  const found = endpointsByPort(slices.map(trim), { family, nodeName: 'n1' });
  return Object.fromEntries(
    [...found].map(([id, entries]) => [
      id,
      entries.map(({ ip, port, isLocal }) => `${ip}:${port}${isLocal ? ' here' : ''}`),
    ]),
  );
}

describe('endpointsByPort()', () => {
  it('joins slices by port name and protocol in a stable order, and marks local endpoints (KPX-05, KPX-08)', () => {
    const ports = [{ name: 'dns', protocol: 'UDP', port: 53 }];
    assert.deepEqual(
      shown([
        exampleSlice([endpoint('2.13'), endpoint('1.11')]),
        exampleSlice([endpoint('1.10')]),
        exampleSlice([endpoint('1.11')], { ports }),
      ]),
      {
        '/TCP': ['10.244.1.10:9376 here', '10.244.1.11:9376 here', '10.244.2.13:9376'],
        'dns/UDP': ['10.244.1.11:53 here'],
      },
    );
  });
  it('uses slices of its family only (KPX-04)', () => {
    const six = exampleSlice([endpoint('1.1', { addresses: ['FD44::1'] })], {
      addressType: 'IPv6',
    });
    const names = exampleSlice([endpoint('1.1', { addresses: ['a.example'] })], {
      addressType: 'FQDN',
    });
    assert.deepEqual(shown([six, names]), {});
    assert.deepEqual(shown([six, names], 'IPv6'), { '/TCP': ['fd44::1:9376 here'] });
  });
  it('uses the first address, and skips ports without a number (KPX-06)', () => {
    const addresses = ['10.244.1.11', '10.244.1.12'];
    const ports = [
      { port: 80 },
      { name: 'a' },
      { name: 'b', port: 0 },
      { name: 'c', port: -1 },
      { name: 'd', port: 70_000 },
      { name: 'e', port: 1, protocol: 'ICMP' },
    ];
    assert.deepEqual(shown([exampleSlice([endpoint('1.11', { addresses })], { ports })]), {
      '/TCP': ['10.244.1.11:80 here'],
    });
  });
  it('counts an address once, with the better conditions, in whatever order (KPX-07)', () => {
    const slices = [
      exampleSlice([endpoint('~1.11')]),
      exampleSlice([endpoint('1.11')]),
      exampleSlice([endpoint('!1.11')]),
    ];
    for (const order of [slices, slices.toReversed()]) {
      const [entry, ...others] =
        endpointsByPort(order.map(trim), { family: 'IPv4', nodeName: 'n1' }).get('/TCP') ?? [];
      assert.deepEqual(
        [entry?.facts.isReady, entry?.facts.isTerminating, others],
        [true, false, []],
      );
    }
  });
  it('prefers an endpoint that is not terminating to one that is serving (KPX-07)', () => {
    const [entry] =
      endpointsByPort(
        [exampleSlice([endpoint('~1.11')]), exampleSlice([endpoint('!1.11')])].map(trim),
        {
          family: 'IPv4',
          nodeName: 'n1',
        },
      ).get('/TCP') ?? [];
    assert.deepEqual([entry?.facts.isReady, entry?.facts.isTerminating], [false, false]);
  });
  it('accepts slices without optional fields', () => {
    const bare = { ...exampleSlice([]), endpoints: null, ports: null } as unknown;
    const empty = exampleSlice([
      { addresses: [], conditions: {} },
      { addresses: ['nonsense'], conditions: {} },
    ]);
    assert.deepEqual(shown([bare as EndpointSlice, empty]), { '/TCP': [] });
  });
});

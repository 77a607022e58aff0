import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../ip/address.ts';
import { type Cached, type ChangeType, createResourceCache } from '../cache/resource-cache.ts';
import { followAllocatedAddresses } from './allocated-addresses.ts';

const cached = (name: string, revision = 1): Cached => ({
  key: `/${name}`,
  revision,
  object: { kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', metadata: { name } },
  json: Buffer.alloc(0),
  prefixLength: 0,
  dropObject() {},
});

const numberOf = (text: string): bigint => parseAddress(text)?.value ?? -1n;

test('followAllocatedAddresses() knows what was there, what came and what went, also after a gap (IPA-02)', () => {
  const cache = createResourceCache();
  cache.load([cached('10.0.0.1'), cached('fd00::1'), cached('no address')]);
  const { firstFree, pending } = followAllocatedAddresses(cache);
  const next = (): readonly (bigint | undefined)[] => [
    firstFree('IPv4', numberOf('10.0.0.1'), numberOf('10.0.0.3')),
    firstFree('IPv6', numberOf('fd00::1'), numberOf('fd00::3')),
  ];
  const change = (type: ChangeType, name: string, revision: number): void =>
    cache.apply({ type, revision, current: cached(name, revision) });

  assert.deepEqual(next(), [numberOf('10.0.0.2'), numberOf('fd00::2')]);
  pending.IPv4.add(1n);
  change('ADDED', '10.0.0.2', 2);
  assert.equal(pending.IPv4.size, 0, 'what was written is known');
  change('ADDED', 'fd00::2', 3);
  change('MODIFIED', 'fd00::2', 4);
  assert.deepEqual(next(), [numberOf('10.0.0.3'), numberOf('fd00::3')]);
  change('DELETED', '10.0.0.1', 5);
  change('DELETED', 'fd00::2', 6);
  assert.deepEqual(next(), [numberOf('10.0.0.1'), numberOf('fd00::2')]);
  const all = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  cache.replace(
    all.map((name) => cached(name, 9)),
    9,
  );
  assert.deepEqual(next(), [undefined, numberOf('fd00::1')]);
});

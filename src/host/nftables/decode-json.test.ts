import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeElementList, decodeNames } from './decode-json.ts';

// As nft 1.0.6 prints them.
const listed = {
  nftables: [
    { metainfo: { version: '1.0.6' } },
    { map: { name: 'service-ips', elem: [] } },
    { set: { name: 'cluster-ips' } },
    { chain: { name: 'services' } },
    { chain: { name: 'refuse' } },
    { rule: { chain: 'services' } },
    { rule: { chain: 'services' } },
  ],
};

test('decodeNames() counts the rules of chains', () => {
  assert.deepEqual(decodeNames(listed), {
    chains: new Map([
      ['services', 2],
      ['refuse', 0],
    ]),
    sets: new Set(['service-ips', 'cluster-ips']),
  });
});

test('decodeElementList() reads verdicts', () => {
  const map = {
    name: 'm',
    elem: [
      [{ concat: ['10.96.0.1', 'tcp', 80] }, { goto: { target: 'internal-2' } }],
      [{ concat: ['10.96.0.1', 'udp', 53] }, { drop: null }],
    ],
  };
  const set = { name: 'm', key: ['address', 'protocol', 'port'], data: 'verdict' } as const;
  assert.deepEqual(decodeElementList({ nftables: [{ map }] }, set), [
    { key: ['10.96.0.1', 'tcp', 80], data: { kind: 'goto', chain: 'internal-2' } },
    { key: ['10.96.0.1', 'udp', 53], data: { kind: 'drop' } },
  ]);
});

test('decodeElementList() reads ranges and endpoints', () => {
  const ranges = {
    name: 's',
    elem: [
      { concat: ['tcp', { prefix: { addr: '10.0.0.0', len: 8 } }] },
      { concat: ['tcp', '192.0.2.1'] },
    ],
  };
  const rangeSet = { name: 's', key: ['protocol', 'address'], hasIntervals: true } as const;
  assert.deepEqual(decodeElementList({ nftables: [{ set: ranges }] }, rangeSet), [
    { key: ['tcp', '10.0.0.0/8'] },
    { key: ['tcp', '192.0.2.1'] },
  ]);
  const map = { name: 'e', elem: [[7, { concat: ['10.244.1.11', 9376] }]] };
  const endpoints = { name: 'e', key: ['index'], data: ['address', 'port'] } as const;
  assert.deepEqual(decodeElementList({ nftables: [{ map }] }, endpoints), [
    { key: [7], data: ['10.244.1.11', 9376] },
  ]);
});

test('decodeElementList() does not guess', () => {
  const map = { name: 'm', elem: [[7, { queue: null }]] };
  const set = { name: 'm', key: ['index'], data: 'verdict' } as const;
  assert.throws(() => decodeElementList({ nftables: [{ map }] }, set), /Cannot read a verdict/);
});

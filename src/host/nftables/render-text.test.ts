import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation, Statement, TableFamily } from './objects.ts';
import { renderTransaction } from './render-text.ts';

function render(operation: Operation, family: TableFamily = 'ip'): string {
  return renderTransaction({ table: { family, name: 't' }, operations: [operation] });
}

const endpoints = {
  name: 'endpoints',
  key: ['address', 'protocol', 'port', 'index'],
  data: ['address', 'port'],
} as const;

const operations: readonly [Operation, string][] = [
  [{ kind: 'add-table' }, 'add table ip t'],
  [{ kind: 'delete-table' }, 'delete table ip t'],
  [{ kind: 'add-chain', chain: { name: 'c' } }, 'add chain ip t c'],
  [
    {
      kind: 'add-chain',
      chain: { name: 'c', base: { type: 'nat', hook: 'output', priority: -100 } },
    },
    'add chain ip t c { type nat hook output priority -100; policy accept; }',
  ],
  [{ kind: 'flush-chain', chain: 'c' }, 'flush chain ip t c'],
  [{ kind: 'delete-chain', chain: 'c' }, 'delete chain ip t c'],
  [
    { kind: 'add-set', set: endpoints },
    'add map ip t endpoints { typeof ip daddr . meta l4proto . th dport . numgen random mod 2 : ip daddr . th dport; }',
  ],
  [
    { kind: 'add-set', set: { name: 's', key: ['protocol', 'address'], hasIntervals: true } },
    'add set ip t s { type inet_proto . ipv4_addr; flags interval; }',
  ],
  [
    { kind: 'add-set', set: { name: 's', key: ['address'], dynamicSize: 9 } },
    'add set ip t s { type ipv4_addr; flags dynamic,timeout; size 9; }',
  ],
  [{ kind: 'delete-set', set: 's' }, 'delete set ip t s'],
  [
    {
      kind: 'add-elements',
      set: endpoints,
      elements: [{ key: ['10.96.0.1', 'tcp', 80, 0], data: ['10.244.1.11', 9376] }],
    },
    'add element ip t endpoints { 10.96.0.1 . tcp . 80 . 0 : 10.244.1.11 . 9376 }',
  ],
  [
    {
      kind: 'delete-elements',
      set: endpoints,
      elements: [{ key: ['10.96.0.1', 'tcp', 80, 0] }, { key: ['10.96.0.1', 'tcp', 80, 1] }],
    },
    'delete element ip t endpoints { 10.96.0.1 . tcp . 80 . 0, 10.96.0.1 . tcp . 80 . 1 }',
  ],
];

for (const [operation, text] of operations) {
  test(`renderTransaction() writes ${text}`, () => assert.equal(render(operation), `${text}\n`));
}

const statements: readonly [TableFamily, Statement, string][] = [
  [
    'ip6',
    { kind: 'match-set', fields: ['source', { fixed: 7 }], set: 's' },
    'ip6 saddr . numgen random mod 1 offset 7 @s',
  ],
  [
    'ip',
    { kind: 'match-range', field: 'source', cidr: '10.0.0.0/8', isInverted: true },
    'ip saddr != 10.0.0.0/8',
  ],
  [
    'ip',
    { kind: 'match-input-interface', name: 'veth', isPrefix: true, isInverted: false },
    'iifname "veth*"',
  ],
  ['ip', { kind: 'match-local-address', field: 'destination' }, 'fib daddr type local'],
  ['ip', { kind: 'match-mark', bit: 0x80000000 }, 'meta mark & 0x80000000 == 0x80000000'],
  ['ip', { kind: 'set-mark', bit: 0x80000000 }, 'meta mark set meta mark | 0x80000000'],
  ['ip', { kind: 'clear-mark', bit: 0x80000000 }, 'meta mark set meta mark & 0x7fffffff'],
  ['ip', { kind: 'match-one-in', count: 3 }, 'numgen random mod 3 0'],
  ['ip6', { kind: 'translate', address: 'fd44::1', port: 80 }, 'dnat to [fd44::1]:80'],
  [
    'ip6',
    { kind: 'reject', answer: 'port-unreachable' },
    'reject with icmpv6 type port-unreachable',
  ],
];

for (const [family, statement, text] of statements) {
  test(`renderTransaction() writes ${text}`, () => {
    const rule = { chain: 'c', statements: [statement] };
    assert.equal(render({ kind: 'add-rule', rule }, family), `add rule ${family} t c ${text}\n`);
  });
}

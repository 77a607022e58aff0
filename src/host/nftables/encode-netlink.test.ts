// Golden bytes are those that nft 1.0.6 sends for the same text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessages } from '../netlink/messages.ts';
import {
  attributesOf,
  decodeChain,
  decodeElements,
  decodeRule,
  decodeSet,
} from './decode-netlink.ts';
import { encodeTransaction } from './encode-netlink.ts';
import { setAttribute } from './netlink-names.ts';
import type { Element, NftSet, Operation, Statement, TableFamily } from './objects.ts';
import { ruleExpressions } from './rule-expressions.ts';

function encode(operations: readonly Operation[], family: TableFamily = 'ip') {
  return readMessages(encodeTransaction({ table: { family, name: 't' }, operations }));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function plain(text: string): string {
  return text.replaceAll(/\s/g, '');
}

test('encodeTransaction() frames the messages as one batch, numbered by operation', () => {
  const messages = encode([
    { kind: 'add-table' },
    { kind: 'add-chain', chain: { name: 'c' } },
    { kind: 'flush-chain', chain: 'c' },
    { kind: 'delete-chain', chain: 'c' },
    { kind: 'delete-set', set: 's' },
    { kind: 'delete-table' },
  ]);
  assert.deepEqual(
    messages.map(({ type, flags, sequence, payload }) => [type, flags, sequence, hex(payload)]),
    [
      [0x10, 0x001, 0, '0000000a'],
      [0xa00, 0x401, 1, plain('02000000 0600 0100 74000000')],
      [0xa03, 0x401, 2, plain('02000000 0600 0100 74000000 0600 0300 63000000')],
      [0xa08, 0x001, 3, plain('02000000 0600 0100 74000000 0600 0200 63000000')],
      [0xa05, 0x001, 4, plain('02000000 0600 0100 74000000 0600 0300 63000000')],
      [0xa0b, 0x001, 5, plain('02000000 0600 0100 74000000 0600 0200 73000000')],
      [0xa02, 0x001, 6, plain('02000000 0600 0100 74000000')],
      [0x11, 0x001, 7, '0000000a'],
    ],
  );
});

test('encodeTransaction() can ask for a generation', () => {
  const table = { family: 'ip', name: 't' } as const;
  const [begin] = readMessages(encodeTransaction({ table, operations: [] }, { generation: 258 }));
  assert.equal(hex(begin?.payload ?? Buffer.of()), plain('0000000a 0800 0100 00000102'));
});

test('encodeTransaction() writes a base chain', () => {
  const chain = { name: 'b1', base: { type: 'nat', hook: 'prerouting', priority: -100 } } as const;
  const [, message] = encode([{ kind: 'add-chain', chain }]);
  assert.ok(message !== undefined);
  assert.equal(
    hex(message.payload),
    plain(`02000000 0600 0100 74000000 0700 0300 62310000 0800 0700 6e617400 0800 0500 00000001
           1400 0480 0800 0100 00000000 0800 0200 ffffff9c`),
  );
  assert.deepEqual(decodeChain(attributesOf(message)), chain);
});

const ruleCases: readonly [string, TableFamily, readonly Statement[], string][] = [
  [
    'ip6 saddr fd00::/8 accept',
    'ip6',
    [
      { kind: 'match-range', field: 'source', cidr: 'fd00::/8', isInverted: false },
      { kind: 'verdict', verdict: { kind: 'accept' } },
    ],
    `340001800c0001007061796c6f6164002400028008000100000000010800020000000001080003000000000808000400000000012c00018008000100
     636d700020000280080001000000000108000200000000000c00038005000100fd000000300001800e000100696d6d6564696174650000001c000280
     0800010000000000100002800c0002800800010000000001`,
  ],
  [
    'ip6 saddr != fd00::/9 accept',
    'ip6',
    [
      { kind: 'match-range', field: 'source', cidr: 'fd00::/9', isInverted: true },
      { kind: 'verdict', verdict: { kind: 'accept' } },
    ],
    `340001800c0001007061796c6f6164002400028008000100000000010800020000000001080003000000000808000400000000105c0001800c000100
     62697477697365004c0002800800010000000001080002000000000108000300000000101800048014000100ff800000000000000000000000000000
     1800058014000100000000000000000000000000000000003800018008000100636d70002c0002800800010000000001080002000000000118000380
     14000100fd000000000000000000000000000000300001800e000100696d6d6564696174650000001c0002800800010000000000100002800c000280
     0800010000000001`,
  ],
];

for (const [text, family, statements, expressions] of ruleCases) {
  test(`encodeTransaction() writes ${text} as nft does`, () => {
    const rule = { chain: 'b1', statements };
    const [, message] = encode([{ kind: 'add-rule', rule }], family);
    assert.ok(message !== undefined);
    const attributes = attributesOf(message);
    assert.equal(hex(attributes.get(4) ?? Buffer.of()), plain(expressions));
    const decoded = decodeRule(attributes);
    assert.equal(decoded.chain, 'b1');
    assert.deepEqual(decoded.readExpressions(), ruleExpressions(rule, family));
  });
}

const setCases: readonly [NftSet, TableFamily, Record<number, string>][] = [
  [
    { name: 's', key: ['address', 'protocol', 'port'] },
    'ip',
    {
      [setAttribute.flags]: '00000000',
      [setAttribute.keyType]: '0000730d',
      [setAttribute.keyLength]: '0000000c',
      [setAttribute.userdata]: '000400000000030800040d0000000100',
    },
  ],
  [
    { name: 's', key: ['address'], hasIntervals: true },
    'ip6',
    {
      [setAttribute.flags]: '00000004',
      [setAttribute.keyType]: '00000008',
      [setAttribute.keyLength]: '00000010',
      [setAttribute.userdata]: '000402000000',
    },
  ],
  [
    { name: 's', key: ['address', 'protocol', 'port', 'address'], hasIntervals: true },
    'ip',
    {
      [setAttribute.flags]: '00000084',
      [setAttribute.keyType]: '001cc347',
      [setAttribute.description]:
        '340002800c00018008000100000000040c00018008000100000000010c00018008000100000000020c0001800800010000000004',
      [setAttribute.userdata]: '000400000000030800040d0000000100',
    },
  ],
  [
    { name: 's', key: ['address', 'address'], dynamicSize: 65535 },
    'ip',
    { [setAttribute.flags]: '00000030', [setAttribute.description]: '080001000000ffff' },
  ],
  [
    { name: 's', key: ['mark', 'mark'], data: 'verdict' },
    'ip',
    {
      [setAttribute.flags]: '00000008',
      [setAttribute.dataType]: 'ffffff00',
      [setAttribute.dataLength]: '00000000',
      [setAttribute.userdata]: '000400000000010400000000030800040d0000000100060400000000',
    },
  ],
  [
    { name: 's', key: ['address', 'protocol', 'port', 'index'], data: ['address', 'port'] },
    'ip6',
    {
      [setAttribute.keyType]: '0020c344',
      [setAttribute.keyLength]: '0000001c',
      [setAttribute.dataType]: '0000020d',
      [setAttribute.dataLength]: '00000014',
      [setAttribute.userdata]: `000400000000010400000000036000040d00000001580014000407000000010c00040d000000010409000000010e00
        040900000001060004100000000214000407000000010c00040b000000010402000000031a000417000000011200040100000001040200000002
        0400000000043400040d000000012c0014000407000000010c00040d0000000104090000000114000407000000010c00040b0000000104020000
        00060400000000`,
    },
  ],
  [
    { name: 's', key: ['index'], data: ['mark'] },
    'ip6',
    {
      [setAttribute.userdata]:
        '000401000000010401000000031a0004170000000112000401000000010402000000020400000000040e0004090000000106000403000000060400000000',
    },
  ],
];

for (const [set, family, expected] of setCases) {
  test(`encodeTransaction() declares a set of ${set.key.join(' . ')} as nft does`, () => {
    const [, message] = encode([{ kind: 'add-set', set }], family);
    assert.ok(message !== undefined);
    const attributes = attributesOf(message);
    for (const [type, bytes] of Object.entries(expected)) {
      assert.equal(
        hex(attributes.get(Number(type)) ?? Buffer.of()),
        plain(bytes),
        `attribute ${type}`,
      );
    }
    assert.deepEqual(decodeSet(attributes, family), set);
  });
}

test('encodeTransaction() writes ranges of addresses as a start and an end', () => {
  const set: NftSet = { name: 's', key: ['address'], hasIntervals: true };
  const elements: Element[] = [{ key: ['10.0.0.0/8'] }, { key: ['255.255.255.255'] }];
  const [, message] = encode([{ kind: 'delete-elements', set, elements }]);
  assert.ok(message !== undefined);
  const attributes = attributesOf(message);
  assert.equal(
    hex(attributes.get(3) ?? Buffer.of()),
    plain(`10000180 0c000180 08000100 0a000000  18000180 08000300 00000001 0c000180 08000100 0b000000
           1c000180 0c000180 08000100 ffffffff 0a000600 010401000000 0000`),
  );
  assert.deepEqual(decodeElements([attributes], set, 'ip'), elements);
});

const elementCases: readonly [NftSet, TableFamily, readonly Element[]][] = [
  [
    { name: 's', key: ['address'], hasIntervals: true, data: 'verdict' },
    'ip6',
    [
      { key: ['::/1'], data: { kind: 'accept' } },
      { key: ['8000::/1'], data: { kind: 'goto', chain: 'c' } },
    ],
  ],
  [
    { name: 's', key: ['address', 'port'], hasIntervals: true },
    'ip',
    [{ key: ['10.0.0.0/9', 80] }, { key: ['10.128.0.1', 80] }, { key: ['0.0.0.0/0', 81] }],
  ],
  [
    { name: 's', key: ['protocol', 'port', 'index', 'mark'], data: ['address', 'port'] },
    'ip6',
    [{ key: ['sctp', 65535, 7, 0xffffffff], data: ['fd00::1', 1] }],
  ],
];

for (const [set, family, elements] of elementCases) {
  test(`elements of ${set.key.join(' . ')} can be read back`, () => {
    const [, message] = encode([{ kind: 'add-elements', set, elements }], family);
    assert.ok(message !== undefined);
    assert.deepEqual(decodeElements([attributesOf(message)], set, family), elements);
  });
}

test('encodeTransaction() spreads many elements over messages that the kernel can take', () => {
  const set: NftSet = { name: 's', key: ['address', 'port'] };
  const elements = Array.from(
    { length: 10_000 },
    (_, at): Element => ({ key: [`10.0.${at >> 8}.${at & 255}`, at] }),
  );
  const messages = encode([{ kind: 'add-elements', set, elements }]).slice(1, -1);
  assert.ok(messages.length > 1);
  assert.deepEqual(new Set(messages.map(({ sequence }) => sequence)), new Set([1]));
  assert.deepEqual(decodeElements(messages.map(attributesOf), set, 'ip'), elements);
});

for (const [name, set, element] of [
  ['an address that is none', { name: 's', key: ['address'] }, { key: ['x'] }],
  ['an unknown transport', { name: 's', key: ['protocol'] }, { key: ['quic'] }],
  ['a key with a field missing', { name: 's', key: ['address', 'port'] }, { key: ['10.0.0.1'] }],
  ['data for a set', { name: 's', key: ['port'] }, { key: [1], data: [1] }],
] as const satisfies readonly [string, NftSet, Element][]) {
  test(`encodeTransaction() refuses ${name}`, () => {
    assert.throws(() => encode([{ kind: 'add-elements', set, elements: [element] }]), RangeError);
  });
}

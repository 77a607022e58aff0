import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttributeWriter, createAttributeWriter } from './attributes.ts';
import {
  be16In,
  be32In,
  be64In,
  listIn,
  nestedIn,
  readAttributeList,
  readAttributes,
  textIn,
  u8In,
  u16In,
  u32In,
  u64In,
} from './read-attributes.ts';

function bytesOf(write: (writer: AttributeWriter) => void): string {
  const writer = createAttributeWriter();
  write(writer);
  return Buffer.from(writer.bytes()).toString('hex');
}

const golden: readonly [string, (writer: AttributeWriter) => void, string][] = [
  ['a byte, padded', (w) => w.attributeU8(1, 6), '0500 0100 06000000'],
  ['a host short, padded', (w) => w.attributeU16(1, 0x0102), '0600 0100 0201 0000'],
  ['a network short, padded', (w) => w.attributeBe16(1, 0x0102), '0600 0100 0102 0000'],
  ['a host number', (w) => w.attributeU32(1, 0x01020304), '0800 0100 04030201'],
  ['a network number', (w) => w.attributeBe32(1, 0xfffffffd), '0800 0100 fffffffd'],
  ['a network long', (w) => w.attributeBe64(11, 10800000n), '0c00 0b00 0000000000a4cb80'],
  ['text with its zero byte', (w) => w.attributeText(3, 'nat'), '0800 0300 6e617400'],
  ['text that needs padding', (w) => w.attributeText(3, 'eth0'), '0900 0300 6574683000 000000'],
  ['nothing but its name', (w) => w.attributeFlag(7), '0400 0700'],
  ['bytes', (w) => w.attribute(1, Uint8Array.of(10, 0, 0, 1, 9)), '0900 0100 0a00000109 000000'],
  [
    'attributes in an attribute',
    (w) => w.nested(1, () => w.nested(2, () => w.attributeU8(3, 4))),
    '1000 0180 0c00 0280 0500 0300 04000000',
  ],
  [
    'raw bytes in an attribute without the flag',
    (w) => w.attributeOf(7, () => w.u32(1)),
    '0800 0700 01000000',
  ],
];

for (const [name, write, expected] of golden) {
  test(`createAttributeWriter() writes ${name}`, () => {
    assert.equal(bytesOf(write), expected.replaceAll(' ', ''));
  });
}

test('createAttributeWriter() keeps what it wrote when it grows', () => {
  const writer = createAttributeWriter();
  for (let count = 0; count < 10_000; count++) writer.attributeU32(1, count);
  assert.deepEqual(
    readAttributeList(writer.bytes()).map(({ value }) => Buffer.from(value).readUInt32LE()),
    Array.from({ length: 10_000 }, (_, count) => count),
  );
});

test('createAttributeWriter() refuses an attribute that is too long for its length', () => {
  const writer = createAttributeWriter();
  writer.attribute(1, new Uint8Array(65531));
  assert.throws(() => writer.attribute(2, new Uint8Array(65532)), /Attribute 2 has 65536 bytes/);
  assert.throws(
    () => createAttributeWriter().nested(3, () => writer.attribute(1, new Uint8Array(70_000))),
    RangeError,
  );
});

test('readAttributes() gives back what was written', () => {
  const writer = createAttributeWriter();
  writer.attributeU8(1, 200);
  writer.attributeU16(2, 0x1234);
  writer.attributeU32(3, 0xfedcba98);
  writer.attributeBe16(4, 0x1234);
  writer.attributeBe32(5, 0xfedcba98);
  writer.attributeBe64(6, 0xfedcba9876543210n);
  writer.attributeText(7, 'füür');
  writer.nested(8, () => {
    for (const number of [1, 2, 3]) writer.attributeU8(1, number);
  });
  const attributes = readAttributes(writer.bytes());
  assert.equal(u8In(attributes, 1), 200);
  assert.equal(u16In(attributes, 2), 0x1234);
  assert.equal(u32In(attributes, 3), 0xfedcba98);
  assert.equal(be16In(attributes, 4), 0x1234);
  assert.equal(be32In(attributes, 5), 0xfedcba98);
  assert.equal(be64In(attributes, 6), 0xfedcba9876543210n);
  assert.equal(u64In(attributes, 6), 0x1032547698badcfen);
  assert.equal(textIn(attributes, 7), 'füür');
  assert.deepEqual(
    listIn(attributes, 8).map(({ value }) => value[0]),
    [1, 2, 3],
  );
  assert.equal(u8In(nestedIn(attributes, 8), 1), 3);
  assert.equal(u32In(attributes, 99), undefined);
  assert.equal(textIn(nestedIn(attributes, 99), 1), undefined);
});

test('readAttributes() reads the name without its flags, and text up to its zero byte', () => {
  const bytes = Buffer.from('0800 01c0 61620063'.replaceAll(' ', ''), 'hex');
  assert.equal(textIn(readAttributes(bytes), 1), 'ab');
});

for (const [name, hex] of [
  ['longer than what is there', '0900010001020304'],
  ['shorter than its header', '0300010001020304'],
  ['of no length', '0000010001020304'],
] as const) {
  test(`readAttributes() refuses an attribute ${name}`, () => {
    assert.throws(() => readAttributes(Buffer.from(hex, 'hex')), /at byte 0 of 8 is cut short/);
  });
}

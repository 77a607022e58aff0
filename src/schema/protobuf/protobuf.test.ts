import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as s from '../node.ts';
import { fromProtobuf } from './decode.ts';
import { toProtobuf } from './encode.ts';
import { ProtobufError } from './wire.ts';

const inner = s.struct('Inner', { n: s.int32() }, { numbers: [3] });

const schema = s.struct(
  'Thing',
  {
    kind: s.string(),
    text: s.string(),
    small: s.pointer(s.int32()),
    large: s.int64(),
    ratio: s.double(),
    flag: s.pointer(s.boolean()),
    time: s.pointer(s.time()),
    micro: s.pointer(s.microTime()),
    size: s.quantity(),
    port: s.intOrString(),
    data: s.bytes(),
    tree: s.any(),
    inner: s.pointer(inner),
    items: s.list(inner),
    numbers: s.list(s.int64()),
    labels: s.map(s.string()),
    extra: s.map(s.list(s.string())),
    deepA: s.string(),
    deepB: s.pointer(inner),
    unread: s.string(),
  },
  {
    numbers: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 100, ...s.within(17, [1, 2])],
  },
);

/** Bytes and the decoded value; `written` where encoding gives other bytes. */
type Vector = { readonly hex: string; readonly object: object; readonly written?: string };

const vectors: Readonly<Record<string, Vector>> = {
  nothing: { hex: '', object: {} },
  'a string': { hex: '0a 02 c3b6', object: { text: 'ö' } },
  'an empty string that is there': { hex: '0a 00', object: { text: '' } },
  'a small number': { hex: '10 96 01', object: { small: 150 } },
  'a pointer to zero': { hex: '10 00', object: { small: 0 } },
  'a negative number, as ten bytes': {
    hex: '10 ffffffffffffffffff01',
    object: { small: -1 },
  },
  'the least number': { hex: '10 80808080f8ffffffff01', object: { small: -(2 ** 31) } },
  'a large number': { hex: '18 80e497d012', object: { large: 5_000_000_000 } },
  'a negative large number': {
    hex: '18 809ce8afedffffffff01',
    object: { large: -5_000_000_000 },
  },
  'the largest exact number': { hex: '18 ffffffffffffff0f', object: { large: 2 ** 53 - 1 } },
  'a fraction': { hex: '21 000000000000e03f', object: { ratio: 0.5 } },
  'a pointer to false': { hex: '28 00', object: { flag: false } },
  'a time': { hex: '32 06 08 ffb484af06', object: { time: '2024-02-29T23:59:59Z' } },
  'the time with which all began': {
    hex: '32 02 08 00',
    object: { time: '1970-01-01T00:00:00Z' },
  },
  'a time before that': {
    hex: '32 0b 08 ffffffffffffffffff01',
    object: { time: '1969-12-31T23:59:59Z' },
  },
  'no time': { hex: '32 00', object: { time: null }, written: '' },
  "Go's zero time": { hex: '32 0b 08 8092b8c398feffffff01', object: { time: null }, written: '' },
  'a time with nanoseconds, which JSON cannot show': {
    hex: '32 04 08 01 10 01',
    object: { time: '1970-01-01T00:00:01Z' },
    written: '32 02 08 01',
  },
  microseconds: {
    hex: '3a 05 08 01 10 d836',
    object: { micro: '1970-01-01T00:00:01.000007Z' },
  },
  'a quantity': { hex: '42 05 0a 03 313030', object: { size: '100' } },
  'a quantity without its text': { hex: '42 00', object: { size: '0' }, written: '42 03 0a 01 30' },
  'a port by number': { hex: '4a 06 08 00 10 50 1a 00', object: { port: 80 } },
  'a port by name': { hex: '4a 08 08 01 10 00 1a 02 6161', object: { port: 'aa' } },
  'a port with nothing in it': {
    hex: '4a 00',
    object: { port: 0 },
    written: '4a 06 08 00 10 00 1a 00',
  },
  bytes: { hex: '52 02 00ff', object: { data: 'AP8=' } },
  'a tree of fields': { hex: '5a 04 0a 02 7b7d', object: { tree: {} } },
  'an empty message': { hex: '62 00', object: { inner: {} } },
  'a message': { hex: '62 02 18 01', object: { inner: { n: 1 } } },
  'a message in two parts': {
    hex: '62 02 18 01 62 00',
    object: { inner: { n: 1 } },
    written: '62 02 18 01',
  },
  'a list': { hex: '6a 02 18 01 6a 00', object: { items: [{ n: 1 }, {}] } },
  'a list of numbers': { hex: '70 01 70 02', object: { numbers: [1, 2] } },
  'a list of numbers in one field': {
    hex: '72 03 01 ac02',
    object: { numbers: [1, 300] },
    written: '70 01 70 ac02',
  },
  'a map, sorted': {
    hex: '7a 06 0a 01 61 12 01 31 7a 06 0a 01 62 12 01 32',
    object: { labels: { b: '2', a: '1' } },
  },
  'a map entry without value': {
    hex: '7a 03 0a 01 61',
    object: { labels: { a: '' } },
    written: '7a 05 0a 01 61 12 00',
  },
  'a map with an odd key': {
    hex: '7a 0d 0a 09 5f5f70726f746f5f5f 12 00',
    object: { labels: Object.fromEntries([['__proto__', '']]) },
  },
  'a map of lists, under a number of two bytes': {
    hex: 'a206 0b 0a 01 61 12 06 0a 01 78 0a 01 79',
    object: { extra: { a: ['x', 'y'] } },
  },
  'fields that JSON has inline': {
    hex: '8a01 07 0a 01 61 12 02 18 01',
    object: { deepA: 'a', deepB: { n: 1 } },
  },
  'an unknown field, of each type': {
    hex: 'a0 1f 01 a1 1f 0000000000000000 a2 1f 01 00 a3 1f ab 1f 08 01 ac 1f a4 1f a5 1f 00000000 0a 01 61',
    object: { text: 'a' },
    written: '0a 01 61',
  },
};

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('fromProtobuf()', () => {
  for (const [name, { hex, object }] of Object.entries(vectors)) {
    it(`reads ${name}`, () => assert.deepEqual(fromProtobuf(schema, bytesOf(hex)), object));
  }
});

describe('toProtobuf()', () => {
  for (const [name, { hex, object, written }] of Object.entries(vectors)) {
    it(`writes ${name}`, () =>
      assert.equal(
        toProtobuf(schema, object).toString('hex'),
        bytesOf(written ?? hex).toString('hex'),
      ));
  }

  it('omits fields without a number', () =>
    assert.equal(toProtobuf(schema, { kind: 'Thing', unread: 'x' }).length, 0));

  it('grows as needed', () => {
    const object = { text: 'x'.repeat(10_000), labels: { a: 'y'.repeat(30_000) } };
    assert.deepEqual(fromProtobuf(schema, toProtobuf(schema, object)), object);
  });
});

const refused: Readonly<Record<string, readonly [hex: string, why: string]>> = {
  'a tag without value': ['0a', 'unexpected EOF'],
  'a length beyond the end': ['0a 02 61', 'unexpected EOF'],
  'an inner length beyond the inner end': ['62 02 0a 05 6161616161', 'unexpected EOF'],
  'packed numbers that go on after their end': ['72 01 80 01', 'unexpected EOF'],
  'a length of 2^63': [
    '0a 80808080808080808001',
    'proto: negative length found during unmarshaling',
  ],
  'a length of 2^62': ['0a 808080808080808040', 'unexpected EOF'],
  'a varint without end': ['10 ffffffffffffffffffff01', 'proto: integer overflow'],
  'a string that is a number': ['08 01', 'proto: wrong wireType = 0 for field Text'],
  'a number that is a string': ['12 00', 'proto: wrong wireType = 2 for field Small'],
  'a message that is a number': ['60 00', 'proto: wrong wireType = 0 for field Inner'],
  'field zero': ['00 00', 'proto: Thing: illegal tag 0 (wire type 0)'],
  'the end of no group': ['0c', 'proto: Thing: wiretype end group for non-group'],
  'a group without end': ['a3 1f', 'unexpected EOF'],
  'an unknown wire type': ['a6 1f', 'proto: illegal wireType 6'],
  'a double that is cut off': ['21 00', 'unexpected EOF'],
  'a year that JSON cannot show': [
    '32 07 08 808080808020',
    'Time.MarshalJSON: year outside of range [0,9999]',
  ],
  'more nanoseconds than a second has': [
    '3a 08 08 01 10 ffffffff07',
    'proto: Timestamp: nanos 2147483647 not within a second',
  ],
  'a tree that is no JSON': ['5a 03 0a 01 7b', 'FieldsV1: invalid JSON'],
};

describe('fromProtobuf() refuses', () => {
  for (const [name, [hex, why]] of Object.entries(refused)) {
    it(name, () => assert.throws(() => fromProtobuf(schema, bytesOf(hex)), new ProtobufError(why)));
  }

  it('groups without end, at any depth', () => {
    const groupStart = 0x93;
    const deep = Buffer.alloc(1_000_000, Buffer.from([groupStart, 1]));
    assert.throws(() => fromProtobuf(schema, deep), new ProtobufError('unexpected EOF'));
  });
});

describe('values that JSON allows', () => {
  it('leaves out bytes that are null in a map', () => {
    const map = s.struct('M', { data: s.map(s.bytes()) }, { numbers: [1] });
    const bytes = toProtobuf(map, { data: { a: null } });
    assert.equal(bytes.toString('hex'), '0a030a0161');
  });

  it('does not decode unlimited nesting', () => {
    const tree = s.struct('M', { tree: s.any() }, { numbers: [1] });
    const deep = Array.from({ length: 600 }).reduce((inner) => ({ a: inner }), {});
    assert.throws(() => fromProtobuf(tree, toProtobuf(tree, { tree: deep })), {
      message: 'FieldsV1: exceeded max depth',
    });
  });
});

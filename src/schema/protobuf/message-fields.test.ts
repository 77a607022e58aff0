import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, encodeMessage } from './message-fields.ts';
import { ProtobufError } from './wire.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('encodeMessage() leaves zeros out and writes varints', () => {
  const bytes = encodeMessage([
    [1, 0],
    [2, 300],
    [3, 'é'],
    [4, 2 ** 52],
    [5, false],
    [6, true],
  ]);
  assert.equal(hex(bytes), '10ac02' + '1a02c3a9' + '208080808080808008' + '3001');
});

test('encodeMessage() keeps the order of fields, and writes empty messages and strings', () => {
  const bytes = encodeMessage([
    [
      1,
      [
        [2, 'b'],
        [2, 'a'],
      ],
    ],
    [1, []],
    [20, Buffer.from('c')],
    [3, ''],
  ]);
  assert.equal(hex(bytes), '0a06120162120161' + '0a00' + 'a2010163' + '1a00');
});

test('decodeMessage() reads integers and bytes and skips fields of other types', () => {
  const fields = decodeMessage(
    Buffer.from('0d01020304' + '10ac02' + '190102030405060708' + '220161' + '220162', 'hex'),
  );
  assert.deepEqual([fields.integer(1), fields.integer(2), fields.integer(3)], [0, 300, 0]);
  assert.deepEqual(fields.allBytes(4).map(String), ['a', 'b']);
  assert.equal(String(fields.bytes(4)), 'b');
  assert.equal(fields.bytes(5), undefined);
});

test('decodeMessage() reads negative numbers', () => {
  assert.equal(decodeMessage(Buffer.from(`08${'ff'.repeat(9)}01`, 'hex')).integer(1), -1);
});

for (const [title, bytes] of [
  ['a number', '10ac'],
  ['a field', '1a05c3a9'],
] as const) {
  test(`decodeMessage() refuses a message that ends within ${title}`, () => {
    assert.throws(() => decodeMessage(Buffer.from(bytes, 'hex')), ProtobufError);
  });
}

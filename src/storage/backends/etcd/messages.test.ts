import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeRange,
  decodeTransaction,
  decodeWatch,
  encodeRange,
  encodeTransaction,
  encodeWatch,
} from './messages.ts';
import { readMessage, writeMessage } from './protobuf.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('writeMessage() leaves zeros out and writes long numbers in sevens of bits', () => {
  const bytes = writeMessage((writer) => {
    writer.int(1, 0);
    writer.int(2, 300);
    writer.text(3, 'é');
    writer.int(4, 2 ** 52);
  });
  assert.equal(hex(bytes), '10ac021a02c3a92080808080808080 08'.replaceAll(' ', ''));
});

test('readMessage() reads back what was written and skips what it does not know', () => {
  const fixed = Buffer.from('0d01020304' + '10ac02' + '190102030405060708', 'hex');
  assert.deepEqual([...readMessage(fixed)], [{ field: 2, int: 300 }]);
});

for (const [title, bytes] of [
  ['a number', '10ac'],
  ['a field', '1a05c3a9'],
] as const) {
  test(`readMessage() refuses a message that ends within ${title}`, () => {
    assert.throws(() => [...readMessage(Buffer.from(bytes, 'hex'))], RangeError);
  });
}

test('encodeRange() names key, end, limit and revision', () => {
  const bytes = encodeRange({
    key: '/a',
    rangeEnd: Buffer.from('/b'),
    limit: 5,
    revision: 7,
    isCountOnly: true,
  });
  assert.equal(hex(bytes), '0a022f6112022f62180520074801');
});

test('encodeTransaction() compares revisions and carries both branches', () => {
  const bytes = encodeTransaction({
    compare: [{ key: 'k', revision: 3 }],
    success: [
      { kind: 'put', key: 'k', value: Buffer.from('v'), lease: 0 },
      { kind: 'delete', key: 'd' },
    ],
    failure: [{ kind: 'get', key: 'k' }],
  });
  assert.equal(
    hex(bytes),
    '0a0710021a016b3003' +
      '12081206' +
      '0a016b120176' +
      '12051a03' +
      '0a0164' +
      '1a050a03' +
      '0a016b',
  );
});

test('encodeWatch() asks for progress and for what stood there before', () => {
  const bytes = encodeWatch({ key: 'a', rangeEnd: Buffer.from('b'), startRevision: 9 });
  assert.equal(hex(bytes), '0a0c' + '0a0161' + '120162' + '1809' + '2001' + '3001');
});

const keyValue = (key: string, created: number, changed: number, value: string): Uint8Array =>
  writeMessage((writer) => {
    writer.text(1, key);
    writer.int(2, created);
    writer.int(3, changed);
    writer.text(5, value);
  });
const header = (revision: number): Uint8Array =>
  writeMessage((writer) => {
    writer.int(1, 1234);
    writer.int(3, revision);
  });
const shown = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each) =>
      each?.type === 'Buffer' ? Buffer.from(each.data).toString() : each,
    ),
  );

test('decodeRange() has the entries and the revision they show', () => {
  const bytes = writeMessage((writer) => {
    writer.bytes(1, header(12));
    writer.bytes(2, keyValue('/a', 3, 4, 'one'));
    writer.bool(3, true);
  });
  assert.deepEqual(shown(decodeRange(bytes)), {
    revision: 12,
    entries: [{ key: '/a', value: 'one', createRevision: 3, modRevision: 4 }],
    more: true,
  });
});

test('decodeTransaction() tells what a failed one found, absent keys too', () => {
  const found = (entries: readonly Uint8Array[]): Uint8Array =>
    writeMessage((writer) =>
      writer.bytes(
        1,
        writeMessage((range) => {
          for (const entry of entries) range.bytes(2, entry);
        }),
      ),
    );
  const bytes = writeMessage((writer) => {
    writer.bytes(1, header(8));
    writer.bytes(3, found([keyValue('/a', 3, 4, 'one')]));
    writer.bytes(3, found([]));
  });
  const answer = decodeTransaction(bytes);
  assert.equal(answer.hasSucceeded, false);
  assert.deepEqual(
    answer.found.map((entry) => entry?.modRevision),
    [4, undefined],
  );
});

test('decodeWatch() has events with what they replaced', () => {
  const event = writeMessage((writer) => {
    writer.int(1, 1);
    writer.bytes(2, keyValue('/a', 0, 9, ''));
    writer.bytes(3, keyValue('/a', 3, 4, 'one'));
  });
  const { events, revision } = decodeWatch(
    writeMessage((writer) => {
      writer.bytes(1, header(9));
      writer.bytes(11, event);
    }),
  );
  assert.equal(revision, 9);
  assert.equal(events[0]?.type, 'delete');
  assert.equal(events[0]?.previous?.createRevision, 3);
});

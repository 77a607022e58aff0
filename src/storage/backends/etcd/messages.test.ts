import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeMessage, type MessageFields } from '../../../schema/protobuf/message-fields.ts';
import {
  decodeLeaseTimeToLive,
  decodeRange,
  decodeTransaction,
  decodeWatch,
  encodeRange,
  encodeTransaction,
  encodeWatch,
} from './messages.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

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

test('encodeWatch() asks for progress notifications and previous values', () => {
  const bytes = encodeWatch({ key: 'a', rangeEnd: Buffer.from('b'), startRevision: 9 });
  assert.equal(hex(bytes), '0a0c' + '0a0161' + '120162' + '1809' + '2001' + '3001');
});

const keyValue = (
  key: string,
  createRevision: number,
  modRevision: number,
  value: string,
): MessageFields => [
  [1, key],
  [2, createRevision],
  [3, modRevision],
  [5, value],
];
const header = (revision: number): MessageFields => [
  [1, 1234],
  [3, revision],
];
const shown = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each) =>
      each?.type === 'Buffer' ? Buffer.from(each.data).toString() : each,
    ),
  );

test('decodeRange() returns the entries and the revision they are read at', () => {
  const bytes = encodeMessage([
    [1, header(12)],
    [2, keyValue('/a', 3, 4, 'one')],
    [3, true],
  ]);
  assert.deepEqual(shown(decodeRange(bytes)), {
    revision: 12,
    entries: [{ key: '/a', value: 'one', createRevision: 3, modRevision: 4 }],
    more: true,
  });
});

test('decodeTransaction() returns what a failed one found, absent keys too', () => {
  const bytes = encodeMessage([
    [1, header(8)],
    [3, [[1, [[2, keyValue('/a', 3, 4, 'one')]]]]],
    [3, [[1, []]]],
  ]);
  const response = decodeTransaction(bytes);
  assert.equal(response.hasSucceeded, false);
  assert.deepEqual(
    response.found.map((entry) => entry?.modRevision),
    [4, undefined],
  );
});

test('decodeWatch() returns events with the previous value', () => {
  const { events, revision } = decodeWatch(
    encodeMessage([
      [1, header(9)],
      [
        11,
        [
          [1, 1],
          [2, keyValue('/a', 0, 9, '')],
          [3, keyValue('/a', 3, 4, 'one')],
        ],
      ],
    ]),
  );
  assert.equal(revision, 9);
  assert.equal(events[0]?.type, 'delete');
  assert.equal(events[0]?.previous?.createRevision, 3);
});

test('decodeLeaseTimeToLive() is 0 for a lease that has expired', () => {
  assert.equal(
    decodeLeaseTimeToLive(
      encodeMessage([
        [3, 40],
        [4, 60],
      ]),
    ),
    40,
  );
  assert.equal(
    decodeLeaseTimeToLive(
      encodeMessage([
        [3, -1],
        [4, 60],
      ]),
    ),
    0,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttributeWriter } from './attributes.ts';
import { readErrorReport, readMessages, writeMessage } from './messages.ts';
import { hasCode, NetlinkError } from './netlink-error.ts';

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
}

test('writeMessage() fills in the length and pads to four bytes', () => {
  const writer = createAttributeWriter();
  writeMessage(writer, { type: 0x0a0c, flags: 0x0405, sequence: 7 }, () => writer.u8(0xff));
  writeMessage(writer, { type: 3, flags: 0, sequence: 8 }, () => {});
  assert.deepEqual(
    Buffer.from(writer.bytes()),
    hex('11000000 0c0a 0504 07000000 00000000 ff000000  10000000 0300 0000 08000000 00000000'),
  );
});

test('readMessages() splits what writeMessage() wrote', () => {
  const writer = createAttributeWriter();
  writeMessage(writer, { type: 20, flags: 2, sequence: 1 }, () => writer.u8(1));
  writeMessage(writer, { type: 21, flags: 0, sequence: 2 }, () => {});
  const messages = readMessages(writer.bytes());
  assert.deepEqual(
    messages.map(({ type, flags, sequence, payload }) => [type, flags, sequence, [...payload]]),
    [
      [20, 2, 1, [1]],
      [21, 0, 2, []],
    ],
  );
  assert.deepEqual(readMessages(new Uint8Array()), []);
});

for (const [name, bytes] of [
  ['says it is longer than what came', '14000000 0300 0000 08000000 00000000'],
  ['says it is shorter than its header', '0f000000 0300 0000 08000000 00000000'],
  ['ends within its header', '10000000 0300 0000'],
] as const) {
  test(`readMessages() refuses a message that ${name}`, () => {
    assert.throws(() => readMessages(hex(bytes)), /cut short/);
  });
}

const errorCases = [
  {
    name: 'an acknowledgement',
    bytes: '24000000 0200 0001 05000000 00000000  00000000 14000000 1000 0500 05000000 00000000',
    report: { errno: 0, sequence: 5 },
  },
  {
    name: 'an error with the words of the kernel, the message left out',
    bytes: `3c000000 0200 0003 05000000 00000000  feffffff 14000000 1000 0500 05000000 00000000
            0d00 0100 4e6f206c696e6b2100 ... 0800 0200 10000000`,
    report: { errno: 2, sequence: 5, text: 'No link!', offset: 16 },
  },
  {
    name: 'an error that repeats the message before the words',
    bytes: `38000000 0200 0002 05000000 00000000  eaffffff 14000000 1000 0500 05000000 00000000 01020304
            0800 0100 62616400`,
    report: { errno: 22, sequence: 5, text: 'bad' },
  },
  {
    name: 'the end of a dump that failed',
    bytes: '14000000 0300 0200 05000000 00000000  f4ffffff',
    report: { errno: 12, sequence: 5 },
  },
  {
    name: 'the end of a dump that says nothing',
    bytes: '10000000 0300 0200 05000000 00000000',
    report: { errno: 0, sequence: 5 },
  },
];

for (const { name, bytes, report } of errorCases) {
  test(`readErrorReport() reads ${name}`, () => {
    // Three dots stand for padding.
    const message = hex(bytes.replace('...', '000000'));
    message.writeUInt32LE(message.length);
    const [read] = readMessages(message);
    assert.ok(read !== undefined);
    assert.deepEqual(readErrorReport(read), report);
  });
}

test('NetlinkError says what could not be done, by name and in the words of the kernel', () => {
  const error = new NetlinkError('add interface "a"', { errno: 17, sequence: 3, text: 'Taken' });
  assert.equal(error.message, 'Cannot add interface "a": EEXIST (Taken)');
  assert.deepEqual(
    [error.code, error.errno, error.sequence, error.explanation],
    ['EEXIST', 17, 3, 'Taken'],
  );
  assert.equal(new NetlinkError('x', { errno: 85, sequence: 0 }).code, 'ERESTART');
  assert.equal(new NetlinkError('x', { errno: 4352, sequence: 0 }).code, 'errno 4352');
  assert.ok(hasCode(error, 'ENOENT', 'EEXIST'));
  assert.ok(!hasCode(error, 'ENOENT'));
  assert.ok(!hasCode('EEXIST', 'EEXIST'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gratuitousArpFrames, neighborAdvertisementFrame } from './announce-frames.ts';

const mac = Uint8Array.of(2, 0, 0, 0, 0, 7);

function bytes(...parts: readonly string[]): string {
  return parts.join('').replaceAll(' ', '');
}

test('gratuitousArpFrames() makes a broadcast request and reply for the own address', () => {
  const ethernet = 'ffffffffffff 020000000007 0806';
  assert.deepEqual(
    gratuitousArpFrames(mac, '10.0.0.9').map((frame) => Buffer.from(frame).toString('hex')),
    [
      bytes(ethernet, '0001 0800 06 04 0001', '020000000007 0a000009', '000000000000 0a000009'),
      bytes(ethernet, '0001 0800 06 04 0002', '020000000007 0a000009', '020000000007 0a000009'),
    ],
  );
});

test('neighborAdvertisementFrame() goes to all nodes with the override flag', () => {
  const frame = Buffer.from(neighborAdvertisementFrame(mac, 'fd00::9'));
  const address = 'fd000000000000000000000000000009';
  assert.equal(
    frame.toString('hex').replace(frame.subarray(56, 58).toString('hex'), 'SUMM'),
    bytes(
      '333300000001 020000000007 86dd',
      '60000000 0020 3a ff',
      address,
      'ff020000000000000000000000000001',
      '8800 SUMM 20000000',
      address,
      '0201 020000000007',
    ),
  );
  // With a correct checksum, the sum over the pseudo header and the message is all ones (RFC 4443, section 2.3).
  const covered = Buffer.concat([
    frame.subarray(22, 54),
    Buffer.of(0, 0, 0, 32, 0, 0, 0, 58),
    frame.subarray(54),
  ]);
  let sum = 0;
  for (let at = 0; at < covered.length; at += 2) sum += covered.readUInt16BE(at);
  assert.equal(((sum & 0xffff) + (sum >> 16)) & 0xffff, 0xffff);
});

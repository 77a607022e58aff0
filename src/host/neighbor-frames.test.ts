import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  arpReplyFrame,
  gratuitousArpFrames,
  neighborAdvertisementFrame,
} from './announce-frames.ts';
import { readNeighborFrame, solicitedNodeGroup } from './neighbor-frames.ts';
import { addressBytes } from './netlink/address-bytes.ts';

const ownMac = Uint8Array.of(2, 0, 0, 0, 0, 7);
const otherMac = Uint8Array.of(2, 0, 0, 0, 0, 9);
const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');
const frame = (...parts: readonly string[]): Uint8Array =>
  Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');

const arpHeader = 'ffffffffffff 020000000009 0806 0001 0800 06 04';

test('readNeighborFrame() answers an ARP request to its sender only', () => {
  const message = readNeighborFrame(
    frame(arpHeader, '0001 020000000009 0a000001 000000000000 0a000009'),
  );
  assert.ok(message?.kind === 'request');
  assert.equal(message.address, '10.0.0.9');
  assert.equal(
    hex(message.answer(ownMac)),
    hex(
      frame(
        '020000000009 020000000007 0806 0001 0800 06 04 0002',
        '020000000007 0a000009 020000000009 0a000001',
      ),
    ),
  );
});

test('readNeighborFrame() distinguishes claims from requests', () => {
  for (const claim of [
    ...gratuitousArpFrames(otherMac, '10.0.0.9'),
    arpReplyFrame(otherMac, addressBytes('10.0.0.9'), {
      macAddress: ownMac,
      ip: Uint8Array.of(10, 0, 0, 1),
    }),
    neighborAdvertisementFrame(otherMac, 'fd00::9'),
  ]) {
    const message = readNeighborFrame(claim);
    assert.ok(message?.kind === 'claim');
    assert.match(message.address, /^(10\.0\.0\.9|fd00::9)$/);
    assert.deepEqual(message.by, otherMac);
  }
});

const source = 'fd000000000000000000000000000001';
const target = 'fd000000000000000000000000000009';
const group = 'ff0200000000000000000001ff000009';
const solicitation = (from: string, hops = 'ff'): Uint8Array =>
  frame(
    `3333ff000009 020000000009 86dd 60000000 0020 3a ${hops}`,
    ...[from, group, '87 00 0000 00000000', target, '01 01 020000000009'],
  );

test('readNeighborFrame() answers a neighbour solicitation to its sender only', () => {
  const message = readNeighborFrame(solicitation(source));
  assert.ok(message?.kind === 'request');
  assert.equal(message.address, 'fd00::9');
  const answer = Buffer.from(message.answer(ownMac));
  assert.equal(hex(answer.subarray(0, 14)), '02000000000902000000000786dd');
  assert.equal(hex(answer.subarray(22, 54)), target + source);
  // The flags solicited and override.
  assert.equal(answer[58], 0x60);
});

test('readNeighborFrame() answers duplicate address detection to all nodes', () => {
  const message = readNeighborFrame(solicitation('0'.repeat(32)));
  assert.ok(message?.kind === 'request');
  assert.equal(hex(message.answer(ownMac)), hex(neighborAdvertisementFrame(ownMac, 'fd00::9')));
});

test('readNeighborFrame() ignores other frames, truncated ones and forwarded discovery', () => {
  const whole = solicitation(source);
  for (const other of [
    new Uint8Array(0),
    whole.subarray(0, 70),
    solicitation(source, '40'),
    frame('ffffffffffff 020000000009 0806 0006 0800 06 04', '0001', '00'.repeat(20)),
    frame('020000000007 020000000009 0800', '00'.repeat(60)),
  ]) {
    assert.equal(readNeighborFrame(other), undefined);
  }
});

test('solicitedNodeGroup() ends with the last three bytes of the address', () => {
  assert.equal(
    hex(solicitedNodeGroup(addressBytes('fd00::12:3456'))),
    'ff0200000000000000000001ff123456',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAnswer, type ResourceRecord } from './encode-answer.ts';
import { answerText, name, query, questionPacket } from './example.ts';
import { readMessage } from './read-message.ts';
import { flags, types } from './record-types.ts';
import { udpLimit, writeRejection, writeReply } from './write-reply.ts';

const owner = name('big.svc');
const records = (count: number): readonly ResourceRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    name: owner,
    type: types.A,
    ttl: 30,
    data: [Uint8Array.from([10, 0, 0, index])],
  }));

function reply(count: number, size: number, udpSize?: number, random = () => 0) {
  const question = { name: 'BIG.svc', ...(udpSize === undefined ? {} : { udpSize }) };
  const packet = questionPacket(question);
  const answer = encodeAnswer(owner, { flags: flags.authoritative, answers: records(count) });
  const out = Buffer.alloc(size);
  const limits = { size, flags: flags.recursionAvailable };
  const length = writeReply(out, packet, query(question), answer, limits, random);
  return out.subarray(0, length);
}

const addressesOf = (bytes: Buffer): readonly string[] => {
  const message = readMessage(bytes, 3600);
  assert.ok(message);
  return answerText(owner, message.answer)
    .slice(1)
    .map((line) => line.split(' ').at(-1) ?? '');
};

test('writeReply() keeps the id, the question and its case (DNS-01)', () => {
  const bytes = reply(1, 512);
  assert.equal(bytes.readUInt16BE(0), 7);
  assert.equal(bytes.toString('latin1', 13, 16), 'BIG');
  assert.equal(bytes.readUInt16BE(2), 0x8580);
  assert.deepEqual(addressesOf(bytes), ['10.0.0.0']);
});

test('writeReply() truncates at whole records and sets TC (DNS-29)', () => {
  const bytes = reply(90, 512);
  assert.ok(bytes.length <= 512);
  assert.equal(bytes.readUInt16BE(2) & flags.truncated, flags.truncated);
  assert.equal(bytes.readUInt16BE(6), Math.floor((512 - 12 - 13) / 16));
  assert.equal(addressesOf(bytes).length, bytes.readUInt16BE(6));
});

test('writeReply() reserves room for OPT, which comes last (DNS-29)', () => {
  const bytes = reply(90, 512, 512);
  assert.ok(bytes.length <= 512);
  assert.equal(bytes.readUInt16BE(10), 1);
  assert.equal(bytes.readUInt16BE(bytes.length - 10), types.OPT);
});

test('writeReply() shuffles addresses (DNS-28)', () => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 1103515245 + 12345) >>> 0;
    return seed >>> 16;
  };
  const orders = new Set<string>();
  for (let time = 0; time < 40; time += 1) {
    const addresses = addressesOf(reply(4, 512, undefined, random));
    assert.deepEqual([...addresses].sort(), ['10.0.0.0', '10.0.0.1', '10.0.0.2', '10.0.0.3']);
    orders.add(addresses.join());
  }
  assert.ok(orders.size > 10, `${orders.size} orders`);
});

test('writeReply() ages TTLs, never below zero', () => {
  const packet = questionPacket({ name: 'big.svc' });
  const answer = encodeAnswer(owner, { flags: 0, answers: records(1) });
  const out = Buffer.alloc(512);
  for (const [seconds, left] of [
    [12, 18],
    [31, 0],
  ] as const) {
    const aged = { ...answer, aged: { offsets: [6], seconds } };
    writeReply(out, packet, query({ name: 'big.svc' }), aged, { size: 512, flags: 0 }, () => 0);
    assert.equal(out.readUInt32BE(packet.length + 6), left);
  }
});

test('udpLimit() is between 512 bytes and our own maximum', () => {
  assert.equal(udpLimit(query({ name: 'a' }), 4096), 512);
  assert.equal(udpLimit(query({ name: 'a', udpSize: 100 }), 4096), 512);
  assert.equal(udpLimit(query({ name: 'a', udpSize: 1232 }), 4096), 1232);
  assert.equal(udpLimit(query({ name: 'a', udpSize: 65_535 }), 4096), 4096);
});

test('writeRejection() writes a bare header', () => {
  const out = Buffer.alloc(512);
  assert.equal(writeRejection(out, questionPacket({ name: 'a', id: 99 }), 1), 12);
  assert.equal(out.toString('hex', 0, 12), '006381010000000000000000');
});

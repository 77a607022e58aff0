import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAnswer, type Sections } from './encode-answer.ts';
import { answerText, name, query, questionPacket } from './example.ts';
import { readMessage, readName } from './read-message.ts';
import { types } from './record-types.ts';
import { writeReply } from './write-reply.ts';

const question = name('www.example.com');

/** What a server would send. */
function message(sections: Sections, udpSize?: number): Buffer {
  const asked = { name: 'www.example.com', ...(udpSize === undefined ? {} : { udpSize }) };
  const out = Buffer.alloc(4096);
  const answer = encodeAnswer(question, sections);
  const limits = { size: 4096, flags: 0 };
  const length = writeReply(out, questionPacket(asked), query(asked), answer, limits, () => 0);
  return out.subarray(0, length);
}

const a = (ttl: number) => ({
  name: question,
  type: types.A,
  ttl,
  data: [Uint8Array.from([192, 0, 2, 1])],
});
const soa = (ttl: number, minimum: number) => ({
  name: name('example.com'),
  type: types.SOA,
  ttl,
  data: [
    name('ns.example.com'),
    name('x.example.com'),
    Buffer.from([...Buffer.alloc(16), 0, 0, 0, minimum]),
  ],
});

test('readMessage() cuts times to live and finds the shortest', () => {
  const read = readMessage(message({ flags: 0, answers: [a(600), a(20)] }), 30);
  assert.equal(read?.ttl, 20);
  assert.deepEqual(read && answerText(question, read.answer).slice(1).sort(), [
    'www.example.com. 20 A 192.0.2.1',
    'www.example.com. 30 A 192.0.2.1',
  ]);
});

test('readMessage() takes the time of a no from the SOA (RFC 2308)', () => {
  const no = { flags: 3, answers: [] };
  assert.equal(readMessage(message({ ...no, authorities: [soa(25, 7)] }), 30)?.ttl, 7);
  assert.equal(readMessage(message({ ...no, authorities: [soa(4, 7)] }), 30)?.ttl, 4);
  assert.equal(readMessage(message(no), 30)?.ttl, undefined);
});

test('readMessage() takes OPT out', () => {
  const read = readMessage(message({ flags: 0, answers: [a(5)] }, 1232), 30);
  assert.equal(read?.answer.additionals, 0);
  assert.equal(read?.answer.body.length, 16);
});

test('readMessage() refuses what is no whole answer', () => {
  const whole = message({ flags: 0, answers: [a(5)] });
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(readMessage(whole.subarray(0, length), 30), undefined, String(length));
  }
  assert.equal(readMessage(questionPacket({ name: 'a' }), 30), undefined, 'a question');
});

test('readName() follows pointers backwards only', () => {
  const bytes = Buffer.from('\x01a\0\x01b\xc0\x00\xc0\x07\xc0\x09', 'latin1');
  assert.equal(readName(bytes, 3), '\x01b\x01a\0');
  assert.equal(readName(bytes, 7), undefined, 'to itself');
  assert.equal(readName(bytes, 9), undefined, 'to itself at the end');
  assert.equal(readName(Buffer.from([5, 65]), 0), undefined, 'beyond the end');
});

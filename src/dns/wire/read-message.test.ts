import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAnswer, type Sections } from './encode-answer.ts';
import { answerText, name, query, questionPacket } from './example.ts';
import { readAnswerRecords, readMessage, readName } from './read-message.ts';
import { types } from './record-types.ts';
import { writeReply } from './write-reply.ts';

const question = name('www.example.com');

/** A response packet. */
function message(sections: Sections, udpSize?: number): Buffer {
  const packet = { name: 'www.example.com', ...(udpSize === undefined ? {} : { udpSize }) };
  const out = Buffer.alloc(4096);
  const answer = encodeAnswer(question, sections);
  const limits = { size: 4096, flags: 0 };
  const length = writeReply(out, questionPacket(packet), query(packet), answer, limits, () => 0);
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

test('readMessage() caps TTLs and finds the lowest', () => {
  const read = readMessage(message({ flags: 0, answers: [a(600), a(20)] }), 30);
  assert.equal(read?.ttl, 20);
  assert.deepEqual(read && answerText(question, read.answer).slice(1).sort(), [
    'www.example.com. 20 A 192.0.2.1',
    'www.example.com. 30 A 192.0.2.1',
  ]);
});

test('readMessage() takes the negative TTL from the SOA (RFC 2308)', () => {
  const no = { flags: 3, answers: [] };
  assert.equal(readMessage(message({ ...no, authorities: [soa(25, 7)] }), 30)?.ttl, 7);
  assert.equal(readMessage(message({ ...no, authorities: [soa(4, 7)] }), 30)?.ttl, 4);
  assert.equal(readMessage(message(no), 30)?.ttl, undefined);
});

test('readMessage() removes OPT', () => {
  const read = readMessage(message({ flags: 0, answers: [a(5)] }, 1232), 30);
  assert.equal(read?.answer.additionals, 0);
  assert.equal(read?.answer.body.length, 16);
});

test('readMessage() rejects malformed responses', () => {
  const whole = message({ flags: 0, answers: [a(5)] });
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(readMessage(whole.subarray(0, length), 30), undefined, String(length));
  }
  assert.equal(readMessage(questionPacket({ name: 'a' }), 30), undefined, 'a question');
});

test('readMessage() rejects responses of another operation', () => {
  const whole = message({ flags: 0, answers: [a(5)] });
  const update = Buffer.from(whole);
  update.writeUInt16BE(update.readUInt16BE(2) | (5 << 11), 2);
  assert.equal(readMessage(update, 30), undefined, 'opcode UPDATE');
});

test('readName() follows pointers backwards only', () => {
  const bytes = Buffer.from('\x01a\0\x01b\xc0\x00\xc0\x07\xc0\x09', 'latin1');
  assert.equal(readName(bytes, 3), '\x01b\x01a\0');
  assert.equal(readName(bytes, 7), undefined, 'to itself');
  assert.equal(readName(bytes, 9), undefined, 'to itself at the end');
  assert.equal(readName(Buffer.from([5, 65]), 0), undefined, 'beyond the end');
});

const rp = 17;
const dname = 39;

/** A record of www.example.com, by a pointer to the question, with this data. */
function withRecord(type: number, data: readonly number[], owner: readonly number[] = [0xc0, 12]) {
  const bytes = message({ flags: 0, answers: [] });
  bytes.writeUInt16BE(1, 6);
  const fixed = [type >> 8, type & 0xff, 0, 1, 0, 0, 0, 9, data.length >> 8, data.length & 0xff];
  return Buffer.concat([bytes, Buffer.from([...owner, ...fixed, ...data])]);
}

test('readMessage() rejects records that clients cannot parse or would parse without end', () => {
  const end = message({ flags: 0, answers: [] }).length;
  const data = end + 12;
  const pointer = (to: number): readonly number[] => [0xc0 | (to >> 8), to & 0xff];
  const sound: Readonly<Record<string, Buffer>> = {
    address: withRecord(types.A, [192, 0, 2, 1]),
    'a name by a pointer': withRecord(types.CNAME, pointer(16)),
    'a name with a pointer': withRecord(types.CNAME, [1, 120, ...pointer(16)]),
    'a type that we do not know': withRecord(999, [0xc0, 0xff]),
    'strings of a TXT': withRecord(types.TXT, [1, 97, 0, 2, 98, 99]),
    'a name in an old type by a pointer': withRecord(rp, [...pointer(16), ...pointer(12)]),
    'strings and a name of a NAPTR': withRecord(types.NAPTR, [0, 1, 0, 1, 1, 117, 0, 0, 1, 120, 0]),
    'a name of a DNAME': withRecord(dname, [1, 120, 0]),
    'a name and more of an HTTPS': withRecord(types.HTTPS, [0, 1, 0, 0, 1, 0, 0]),
  };
  const broken: Readonly<Record<string, Buffer>> = {
    'an owner that leads to itself': withRecord(types.A, [192, 0, 2, 1], pointer(end)),
    'an owner that leads forwards': withRecord(types.A, [192, 0, 2, 1], pointer(end + 4)),
    'an owner in the header': withRecord(types.A, [192, 0, 2, 1], pointer(2)),
    'data that leads to itself': withRecord(types.CNAME, pointer(data)),
    'data that leads to itself behind a label': withRecord(types.CNAME, [1, 120, ...pointer(data)]),
    'a name that runs out of its data': withRecord(types.CNAME, [9, 120]),
    'something behind a name': withRecord(types.CNAME, [...pointer(16), 0]),
    'an address that is too short': withRecord(types.A, [192, 0, 2]),
    'an address that is too long': withRecord(types.AAAA, Array(17).fill(0)),
    'old types that lead to themselves': withRecord(rp, [...pointer(data), ...pointer(data)]),
    'a NAPTR that leads to itself': withRecord(types.NAPTR, [
      ...[0, 1, 0, 1, 1, 117, 0, 0],
      ...pointer(data + 8),
    ]),
    'a NAPTR whose strings exceed it': withRecord(types.NAPTR, [0, 1, 0, 1, 9, 117, 0, 0, 0]),
    'a DNAME that is compressed': withRecord(dname, pointer(16)),
    'an HTTPS that leads to itself': withRecord(types.HTTPS, [0, 1, ...pointer(data + 2)]),
    'an RRSIG that is too short': withRecord(types.RRSIG, Array(17).fill(0)),
    'a TXT whose string exceeds it': withRecord(types.TXT, [0xc0, 1]),
    'a SOA without its numbers': withRecord(types.SOA, [...pointer(16), ...pointer(16), 0]),
  };
  for (const [what, bytes] of Object.entries(sound)) assert.ok(readMessage(bytes, 30), what);
  for (const [what, bytes] of Object.entries(broken)) {
    assert.equal(readMessage(bytes, 30), undefined, what);
  }
});

test('readMessage() limits chains of pointers', () => {
  const bytes = message({ flags: 0, answers: [] });
  const records: Buffer[] = [];
  let at = bytes.length;
  let target = 12;
  for (let n = 0; n < 1000; n += 1) {
    const owner = [0xc0 | (target >> 8), target & 0xff];
    const one = Buffer.from([...owner, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 1]);
    target = at;
    at += one.length;
    records.push(one);
  }
  bytes.writeUInt16BE(records.length, 6);
  assert.equal(readMessage(Buffer.concat([bytes, ...records]), 30), undefined);
});

test('readMessage() survives a chain of pointers that would overflow the stack', () => {
  const bytes = message({ flags: 0, answers: [] });
  const from = bytes.length + 12;
  // Data of an unknown type may hold anything, pointers among them, each to the one before.
  const chain = Array.from({ length: 8000 }, (_, n) => {
    const to = n === 0 ? 12 : from + 2 * (n - 1);
    return [0xc0 | (to >> 8), to & 0xff];
  });
  const text = withRecord(999, chain.flat());
  const last = from + 2 * (chain.length - 1);
  const owner = [0xc0 | (last >> 8), last & 0xff];
  const record = Buffer.from([...owner, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 1]);
  text.writeUInt16BE(2, 6);
  assert.equal(readMessage(Buffer.concat([text, record]), 30), undefined);
});

test('readMessage() of randomly changed bytes passes on only what can be parsed', () => {
  const whole = message({ flags: 0, answers: [a(5), a(6)], authorities: [soa(4, 7)] });
  const random = createRandom(1);
  let passed = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const bytes = Buffer.from(whole);
    for (let n = random.below(4); n >= 0; n -= 1) {
      bytes[random.below(bytes.length)] = random.below(256);
    }
    const read = readMessage(bytes, 30);
    if (read === undefined) continue;
    passed += 1;
    assert.ok(
      readAnswerRecords(read.question.name, read.answer) !== undefined,
      bytes.toString('hex'),
    );
  }
  assert.ok(passed > 100, `${passed}`);
});

test('readAnswerRecords() decompresses names of old types', () => {
  const read = readMessage(withRecord(rp, [0xc0, 16, 1, 120, 0xc0, 16]), 30);
  const records = read && readAnswerRecords(read.question.name, read.answer);
  assert.deepEqual(records?.[0]?.data, [name('example.com'), name('x.example.com')]);
});

/** mulberry32: a seeded random generator. */
function createRandom(seed: number): { readonly below: (limit: number) => number } {
  let state = seed >>> 0;
  return {
    below(limit) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}

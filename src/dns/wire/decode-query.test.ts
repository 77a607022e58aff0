import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeQuery, ignored, queryName } from './decode-query.ts';
import { name, query, questionPacket } from './example.ts';
import { rcodes, types } from './record-types.ts';

test('decodeQuery() reads the question', () => {
  const read = query({ name: 'WeB.dns-a.svc', type: 'AAAA', id: 513 });
  assert.equal(read.id, 513);
  assert.equal(read.type, types.AAAA);
  assert.equal(queryName(read), name('web.dns-a.svc'));
  assert.equal(read.udpSize, 0);
});

test('decodeQuery() does not fold the type', () => {
  // HTTPS is 65, the number of the letter A, and must not be folded.
  assert.equal(query({ name: 'A', type: 'HTTPS' }).key, '\x01a\0\0A');
});

test('decodeQuery() reads the EDNS UDP size (DNS-29)', () => {
  assert.equal(query({ name: 'a', udpSize: 1232 }).udpSize, 1232);
});

const change = (edit: (packet: Buffer) => Buffer | undefined) => {
  const packet = questionPacket({ name: 'web.example', udpSize: 512 });
  return edit(packet) ?? packet;
};
const put16 = (at: number, value: number) =>
  change((packet) => {
    packet.writeUInt16BE(value, at);
    return packet;
  });

const malformed: readonly (readonly [string, Buffer, number])[] = [
  ['a packet too short for a header', Buffer.alloc(11), ignored],
  ['an answer', put16(2, 0x8180), ignored],
  ['another kind of question', put16(2, 0x2800), rcodes.NOTIMP],
  ['no question', put16(4, 0), rcodes.FORMERR],
  ['two questions', put16(4, 2), rcodes.FORMERR],
  ['many records before', put16(6, 3), rcodes.FORMERR],
  ['many records behind', put16(10, 3), rcodes.FORMERR],
  ['records that are not there', put16(10, 2), rcodes.FORMERR],
  ['a name that runs out', change((packet) => packet.subarray(0, 20)), rcodes.FORMERR],
  ['a name without type', change((packet) => packet.subarray(0, 26)), rcodes.FORMERR],
  ['a pointer as name', put16(12, 0xc00c), rcodes.FORMERR],
  ['a label with reserved bits', put16(12, 0x4141), rcodes.FORMERR],
  [
    'a name that is too long',
    Buffer.concat([
      questionPacket({ name: 'a' }).subarray(0, 12),
      Buffer.from(`${`\x3f${'x'.repeat(63)}`.repeat(4)}\0\0\x01\0\x01`, 'latin1'),
    ]),
    rcodes.FORMERR,
  ],
  [
    'two OPT records',
    change((packet) => {
      packet.writeUInt16BE(2, 10);
      return Buffer.concat([packet, packet.subarray(-11)]);
    }),
    rcodes.FORMERR,
  ],
];
for (const [what, packet, code] of malformed) {
  test(`decodeQuery() refuses ${what}`, () => {
    assert.equal(decodeQuery(packet, packet.length), code);
  });
}

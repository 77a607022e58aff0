// For tests: encodes a query as a resolver does, and prints answers as text.

import type { Answer } from './answer.ts';
import { decodeQuery, type Query } from './decode-query.ts';
import { encodeQuery } from './encode-query.ts';
import { nameText, type WireName, wireName } from './names.ts';
import { readAnswerRecords } from './read-message.ts';
import { flags, rcodeName, typeName, types } from './record-types.ts';

export type QuestionText = {
  readonly name: string;
  readonly type?: keyof typeof types;
  readonly id?: number;
  /** Absent: without EDNS. */
  readonly udpSize?: number;
};

export function name(text: string): WireName {
  const wire = wireName(text);
  if (wire === undefined) throw new Error(`"${text}" is not a domain name`);
  return wire;
}

/** Keeps the case of the name. */
export function questionPacket({ name: text, type = 'A', id = 7, udpSize }: QuestionText): Buffer {
  const question = {
    name: name(text),
    type: types[type],
    dnssecOk: false,
    checkingDisabled: false,
  };
  const packet = encodeQuery(id, question);
  let at = 12;
  for (const label of text.split('.')) at += 1 + packet.write(label, at + 1, 'latin1');
  if (udpSize !== undefined) {
    packet.writeUInt16BE(udpSize, packet.length - 8);
    return packet;
  }
  packet.writeUInt16BE(0, 10);
  return packet.subarray(0, packet.length - 11);
}

export function query(question: QuestionText): Query {
  const packet = questionPacket(question);
  const decoded = decodeQuery(packet, packet.length);
  if (typeof decoded === 'number') throw new Error(`refused with ${decoded}`);
  return decoded;
}

/** `NOERROR aa`, then one line per record of the answer section. */
export function answerText(question: WireName, answer: Answer): readonly string[] {
  const records = readAnswerRecords(question, answer) ?? [];
  const bits = (answer.flags & flags.authoritative) !== 0 ? ' aa' : '';
  return [
    `${rcodeName(answer.flags & flags.rcodeMask)}${bits}`,
    ...records.map(
      ({ name: owner, type, ttl, data }) =>
        `${nameText(owner)} ${ttl} ${typeName(type)} ${data.map(dataText).join(' ')}`,
    ),
  ];
}

function dataText(part: WireName | Uint8Array): string {
  return typeof part === 'string' ? nameText(part) : part.join('.');
}

// Encodes a query to an upstream server.
import type { WireName } from './names.ts';
import { classInternet, dnssecOkBit, flags, headerSize, types } from './record-types.ts';

export type UpstreamQuestion = {
  readonly name: WireName;
  readonly type: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
};

/** The EDNS UDP size: avoids fragmentation (RFC 9715). */
const udpSize = 1232;
const optSize = 11;

export function encodeQuery(id: number, question: UpstreamQuestion): Buffer {
  const { name, dnssecOk } = question;
  const plain = encodePlainQuery(id, question);
  const bytes = Buffer.concat([plain], plain.length + optSize);
  bytes.writeUInt16BE(1, 10);
  let at = bytes.writeUInt8(0, headerSize + name.length + 4);
  at = bytes.writeUInt16BE(types.OPT, at);
  at = bytes.writeUInt16BE(udpSize, at);
  at = bytes.writeUInt16BE(0, at);
  bytes.writeUInt16BE(dnssecOk ? dnssecOkBit : 0, at);
  return bytes;
}

/** False for servers without EDNS. */
export function encodePlainQuery(id: number, question: UpstreamQuestion): Buffer {
  const { name, type, checkingDisabled } = question;
  const bytes = Buffer.alloc(headerSize + name.length + 4);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(flags.recursionDesired | (checkingDisabled ? flags.checkingDisabled : 0), 2);
  bytes.writeUInt16BE(1, 4);
  const at = headerSize + bytes.write(name, headerSize, 'latin1');
  bytes.writeUInt16BE(type, at);
  bytes.writeUInt16BE(classInternet, at + 2);
  return bytes;
}

// A question to an upstream server.
import type { WireName } from './names.ts';
import { classInternet, dnssecOkBit, flags, headerSize, types } from './record-types.ts';

export type UpstreamQuestion = {
  readonly name: WireName;
  readonly type: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
};

/** What we take over UDP: passes everywhere without fragments (RFC 9715). */
const udpSize = 1232;
const optSize = 11;

export function encodeQuery(id: number, question: UpstreamQuestion): Buffer {
  const { name, type, dnssecOk, checkingDisabled } = question;
  const bytes = Buffer.alloc(headerSize + name.length + 4 + optSize);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(flags.recursionDesired | (checkingDisabled ? flags.checkingDisabled : 0), 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(1, 10);
  let at = headerSize + bytes.write(name, headerSize, 'latin1');
  at = bytes.writeUInt16BE(type, at);
  at = bytes.writeUInt16BE(classInternet, at);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt16BE(types.OPT, at);
  at = bytes.writeUInt16BE(udpSize, at);
  at = bytes.writeUInt16BE(0, at);
  bytes.writeUInt16BE(dnssecOk ? dnssecOkBit : 0, at);
  return bytes;
}

// Records as people read them, in the form of zone files.
import { formatAddress } from '../../ip/address.ts';
import type { RecordData, ResourceRecord } from './encode-answer.ts';
import { nameText } from './names.ts';
import { typeName, types } from './record-types.ts';

export type RecordText = {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: string;
};

export function recordText({ name, type, ttl, data }: ResourceRecord): RecordText {
  return { name: nameText(name), type: typeName(type), ttl, data: dataText(type, data) };
}

function dataText(type: number, [first = '', second = '']: RecordData): string {
  if (typeof first === 'string') {
    return type === types.SOA ? `${nameText(first)} ${textOf(second)}` : nameText(first);
  }
  switch (type) {
    case types.A:
    case types.AAAA:
      return addressText(first);
    case types.SRV: {
      const view = new DataView(first.buffer, first.byteOffset, first.length);
      return `${[0, 2, 4].map((at) => view.getUint16(at)).join(' ')} ${textOf(second)}`;
    }
    case types.TXT:
      return Buffer.from(first.subarray(1)).toString('latin1');
    default:
      return Buffer.from(first).toString('hex');
  }
}

const textOf = (part: string | Uint8Array): string =>
  typeof part === 'string' ? nameText(part) : Buffer.from(part).toString('hex');

function addressText(bytes: Uint8Array): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  return formatAddress({ family: bytes.length === 4 ? 'IPv4' : 'IPv6', value });
}

// Turns rows into records of one type.
import { parseAddress } from '../../ip/address.ts';
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { joinName, type WireName } from '../wire/names.ts';
import { types } from '../wire/record-types.ts';
import { noPort } from './facts.ts';
import type { Row } from './find-rows.ts';

type AddressRow = Extract<Row, { kind: 'address' }>;

/** A or AAAA: each address once, however many ports it has. */
export function addressRecords(
  name: WireName,
  type: number,
  ttl: number,
  rows: readonly Row[],
): readonly ResourceRecord[] {
  const seen = new Set<string>();
  const records: ResourceRecord[] = [];
  for (const row of rows) {
    if (row.kind !== 'address' || seen.has(row.address)) continue;
    seen.add(row.address);
    const record = addressRecord(name, row.address, ttl);
    if (record.type === type) records.push(record);
  }
  return records;
}

/** SRV; targets are names below `serviceName`. */
export function serviceRecords(
  name: WireName,
  serviceName: WireName,
  ttl: number,
  rows: readonly Row[],
): {
  readonly answers: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
} {
  const addresses = rows.filter((row) => row.kind === 'address');
  const weight = weightOf(addresses.length);
  const answers = new Map<string, ResourceRecord>();
  const additionals = new Map<string, ResourceRecord>();
  for (const row of addresses) {
    if (row.port === noPort) continue;
    const target = targetName(row, serviceName);
    if (target === undefined) continue;
    const key = `${target}${row.port}`;
    if (!answers.has(key)) {
      answers.set(key, {
        name,
        type: types.SRV,
        ttl,
        data: [words([0, weight, row.port]), target],
      });
    }
    additionals.set(`${target}${row.address}`, addressRecord(target, row.address, ttl));
  }
  return { answers: [...answers.values()], additionals: [...additionals.values()] };
}

export function aliasRecord(name: WireName, target: WireName, ttl: number): ResourceRecord {
  return { name, type: types.CNAME, ttl, data: [target] };
}

export function pointerRecord(name: WireName, target: WireName, ttl: number): ResourceRecord {
  return { name, type: types.PTR, ttl, data: [target] };
}

export function nameServerRecord(name: WireName, target: WireName, ttl: number): ResourceRecord {
  return { name, type: types.NS, ttl, data: [target] };
}

export function textRecord(name: WireName, text: string, ttl: number): ResourceRecord {
  const bytes = Buffer.from(text, 'latin1');
  return { name, type: types.TXT, ttl, data: [Uint8Array.from([bytes.length, ...bytes])] };
}

export function addressRecord(name: WireName, text: string, ttl: number): ResourceRecord {
  const bytes = addressBytes(text);
  return { name, type: bytes.length === 4 ? types.A : types.AAAA, ttl, data: [bytes] };
}

function addressBytes(text: string): Uint8Array {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`"${text}" is not an IP address`);
  const bytes = new Uint8Array(address.family === 'IPv4' ? 4 : 16);
  let { value } = address;
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    bytes[at] = Number(value & 0xffn);
    value >>= 8n;
  }
  return bytes;
}

function targetName({ label }: AddressRow, serviceName: WireName): WireName | undefined {
  return label === undefined ? serviceName : joinName([label], serviceName);
}

/** Equal weights that add up to about 100; computed before duplicates are removed, as CoreDNS does. */
function weightOf(count: number): number {
  return Math.max(Math.floor((100 / (100 * count)) * 100), 1);
}

function words(values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]));
}

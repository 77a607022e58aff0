// The SOA record, which negative answers carry, as CoreDNS writes it (plugin/backend_lookup.go).
import type { Answer } from '../wire/answer.ts';
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { ancestorOffset, joinName, type WireName } from '../wire/names.ts';
import { classInternet, flags, headerSize, types } from '../wire/record-types.ts';

const refreshSeconds = 7200;
const retrySeconds = 1800;
const expireSeconds = 86_400;
const maxTtl = 300;

export type SoaOptions = { readonly ttl: number; readonly serial: number };

export function soaRecord(zone: WireName, { ttl, serial }: SoaOptions): ResourceRecord {
  return {
    name: zone,
    type: types.SOA,
    ttl: Math.min(ttl, maxTtl),
    data: [
      joinName(['ns', 'dns'], zone) ?? zone,
      joinName(['hostmaster'], zone) ?? zone,
      numbers({ ttl, serial }),
    ],
  };
}

/**
 * NXDOMAIN or NODATA: an answer with the SOA alone. Most queries of a search list end here, so it is assembled from a few bytes: all
 * three names end in a pointer to the zone within the question.
 */
export function negativeAnswer(
  question: WireName,
  zone: WireName,
  rcode: number,
  options: SoaOptions,
): Answer {
  const pointer = 0xc000 | (headerSize + (ancestorOffset(question, zone) ?? 0));
  const body = new Uint8Array(template);
  for (const at of pointerOffsets) {
    body[at] = pointer >> 8;
    body[at + 1] = pointer & 0xff;
  }
  writeNumber(body, ttlOffset, Math.min(options.ttl, maxTtl));
  writeNumber(body, serialOffset, options.serial);
  writeNumber(body, body.length - 4, options.ttl);
  return {
    flags: flags.authoritative | rcode,
    answers: 0,
    authorities: 1,
    additionals: 0,
    body,
    runs: [],
  };
}

const head = [0, 0, 0, types.SOA, 0, classInternet, 0, 0, 0, 0, 0, 0];
const primary = [...labelBytes('ns'), ...labelBytes('dns'), 0, 0];
const mailbox = [...labelBytes('hostmaster'), 0, 0];
const ttlOffset = 6;
const serialOffset = head.length + primary.length + mailbox.length;
const pointerOffsets = [0, head.length + primary.length - 2, serialOffset - 2];
const template = makeTemplate();

function makeTemplate(): Uint8Array {
  const bytes = Uint8Array.from([
    ...head,
    ...primary,
    ...mailbox,
    ...numbers({ ttl: 0, serial: 0 }),
  ]);
  bytes[head.length - 1] = bytes.length - head.length;
  return bytes;
}

function labelBytes(label: string): readonly number[] {
  return [label.length, ...Buffer.from(label, 'latin1')];
}

function numbers({ ttl, serial }: SoaOptions): Uint8Array {
  const bytes = new Uint8Array(20);
  for (const [index, value] of [
    serial,
    refreshSeconds,
    retrySeconds,
    expireSeconds,
    ttl,
  ].entries()) {
    writeNumber(bytes, index * 4, value);
  }
  return bytes;
}

function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

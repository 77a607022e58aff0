// Writes the reply packet from question and encoded answer: copies, shuffles addresses, truncates. Runs for every packet.
import type { Answer, Run } from './answer.ts';
import type { Query } from './decode-query.ts';
import {
  dnssecOkBit,
  flags,
  headerSize,
  maxMessageSize,
  minUdpSize,
  types,
} from './record-types.ts';
import { skipRecord } from './skip-record.ts';

export type ReplyLimits = {
  /** The maximum size of the reply. */
  readonly size: number;
  /** Header bits of every reply of this server: RA. */
  readonly flags: number;
};

const optSize = 11;
/** Our own EDNS UDP size: avoids fragmentation. */
const ownUdpSize = 1232;

/**
 * The maximum UDP reply: the client's EDNS size, but at least 512 bytes, and at most what we are willing to send to an address that
 * may be forged.
 */
export function udpLimit(query: Query, most: number): number {
  return Math.min(Math.max(query.udpSize, minUdpSize), most);
}

/** Writes the packet into `out`, which must hold `limits.size`, and returns its length. `random` is in [0, 2^32). */
export function writeReply(
  out: Buffer,
  packet: Buffer,
  query: Query,
  answer: Answer,
  limits: ReplyLimits,
  random: () => number,
): number {
  const { end } = query;
  const { body } = answer;
  const optRoom = query.udpSize > 0 ? optSize : 0;
  const isWhole = end + body.length + optRoom <= limits.size;
  // Shuffle before truncating, so that clients get different subsets.
  const target = isWhole ? out : scratch;
  copyBytes(body, target, end);
  for (const run of answer.runs) shuffle(target, end, run, random);
  if (answer.aged !== undefined) age(target, end, answer.aged);
  const { answers, authorities, additionals } = answer;
  const fit = isWhole
    ? { answers, authorities, additionals, at: end + body.length }
    : cut(scratch, end, answer, limits.size - optRoom);
  if (!isWhole) scratch.copy(out, end, end, fit.at);
  for (let at = 0; at < end; at += 1) out[at] = packet[at] ?? 0;
  const echoed = query.flags & (flags.opcodeMask | flags.recursionDesired | flags.checkingDisabled);
  const word = flags.response | echoed | limits.flags | (answer.flags & 0xffff);
  writeWord(out, 2, isWhole ? word : word | flags.truncated);
  writeWord(out, 6, fit.answers);
  writeWord(out, 8, fit.authorities);
  writeWord(out, 10, fit.additionals + (optRoom > 0 ? 1 : 0));
  return optRoom > 0 ? writeOpt(out, fit.at, query, answer.flags >> 20) : fit.at;
}

/** Holds answers that must be truncated. */
const scratch = Buffer.alloc(2 * maxMessageSize);

/** Up to this many bytes a loop is faster than Buffer.copy(). */
const fewBytes = 100;

function copyBytes(from: Uint8Array, to: Buffer, start: number): void {
  if (from.length > fewBytes) to.set(from, start);
  else for (let at = 0; at < from.length; at += 1) to[start + at] = from[at] ?? 0;
}

/** The reply to a malformed query: a bare header, so never larger than the query. */
export function writeRejection(out: Buffer, packet: Buffer, rcode: number): number {
  packet.copy(out, 0, 0, headerSize);
  const kept = ((packet[2] ?? 0) << 8) & (flags.opcodeMask | flags.recursionDesired);
  writeWord(out, 2, flags.response | kept | rcode);
  out.fill(0, 4, headerSize);
  return headerSize;
}

/** The upper bits of an rcode above 15 belong into OPT: an answer's flags carry them above the header's 16 bits. */
export function extendedFlags(rcode: number): number {
  return (rcode & 0xf) | ((rcode >> 4) << 20);
}

function writeWord(out: Buffer, at: number, word: number): void {
  out[at] = word >> 8;
  out[at + 1] = word & 0xff;
}

function writeOpt(out: Buffer, at: number, query: Query, extendedRcode: number): number {
  out[at] = 0;
  writeWord(out, at + 1, types.OPT);
  writeWord(out, at + 3, ownUdpSize);
  out[at + 5] = extendedRcode;
  out[at + 6] = 0;
  writeWord(out, at + 7, query.dnssecOk ? dnssecOkBit : 0);
  writeWord(out, at + 9, 0);
  return at + optSize;
}

/** Fisher-Yates shuffle of equally long records, in place. */
function shuffle(out: Buffer, start: number, run: Run, random: () => number): void {
  const first = start + run.offset;
  for (let left = run.count - 1; left > 0; left -= 1) {
    const other = random() % (left + 1);
    if (other === left) continue;
    const a = first + left * run.size;
    const b = first + other * run.size;
    for (let at = 0; at < run.size; at += 1) {
      const byte = out[a + at] ?? 0;
      out[a + at] = out[b + at] ?? 0;
      out[b + at] = byte;
    }
  }
}

/** Subtracts the age of a cached answer from its TTLs. */
function age(
  out: Buffer,
  start: number,
  { offsets, seconds }: { readonly offsets: readonly number[]; readonly seconds: number },
): void {
  for (const offset of offsets) {
    const ttl = out.readUInt32BE(start + offset);
    out.writeUInt32BE(Math.max(ttl - seconds, 0), start + offset);
  }
}

/** Keeps as many whole records as fit; pointers lead backwards only, so any prefix is valid. */
function cut(out: Buffer, start: number, answer: Answer, size: number) {
  const whole = start + answer.body.length;
  const total = answer.answers + answer.authorities + answer.additionals;
  let at = start;
  let kept = 0;
  while (kept < total) {
    const next = skipRecord(out, at, whole);
    if (next < 0 || next > size) break;
    at = next;
    kept += 1;
  }
  const answers = Math.min(kept, answer.answers);
  const authorities = Math.min(kept - answers, answer.authorities);
  return { at, answers, authorities, additionals: kept - answers - authorities };
}

// Question + encoded answer → packet. The last step for every packet: copies, turns the order of addresses, cuts to size.
import type { Answer, Run } from './answer.ts';
import type { Query } from './decode-query.ts';
import {
  dnssecOkBit,
  flags,
  headerSize,
  largestMessage,
  smallestUdpSize,
  types,
} from './record-types.ts';
import { skipRecord } from './skip-record.ts';

export type ReplyLimits = {
  /** What the way back carries. */
  readonly size: number;
  /** Bits that every reply of this server has: whether it recurses. */
  readonly flags: number;
};

const optSize = 11;
/** The size we take ourselves over UDP: what passes everywhere without fragments. */
const ownUdpSize = 1232;

/**
 * How much may go back over UDP: what the asker says, never less than everyone takes, never more than we care to send
 * to an address that might be forged.
 */
export function udpLimit(query: Query, most: number): number {
  return Math.min(Math.max(query.udpSize, smallestUdpSize), most);
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
  // What is cut is put in order first, so that everybody gets another part of it.
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

/** Where answers stand that are too large for the way back, until they are cut. */
const scratch = Buffer.alloc(2 * largestMessage);

/** Up to this many bytes, a loop is quicker than a call out of the engine. */
const fewBytes = 100;

function copyBytes(from: Uint8Array, to: Buffer, start: number): void {
  if (from.length > fewBytes) to.set(from, start);
  else for (let at = 0; at < from.length; at += 1) to[start + at] = from[at] ?? 0;
}

/** A reply to what could not be read as a question: a header and nothing else, so never larger than what came. */
export function writeRejection(out: Buffer, packet: Buffer, rcode: number): number {
  packet.copy(out, 0, 0, headerSize);
  const kept = ((packet[2] ?? 0) << 8) & (flags.opcodeMask | flags.recursionDesired);
  writeWord(out, 2, flags.response | kept | rcode);
  out.fill(0, 4, headerSize);
  return headerSize;
}

/** A code above 15 has its upper bits in OPT: they travel in the flags of an answer, above the header's word. */
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

/** Fisher and Yates, in place: records that are equally long change places. */
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

/** Times to live count down while an answer is kept. */
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

/** As many whole records as fit; names only point backwards, so any front part is whole. */
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

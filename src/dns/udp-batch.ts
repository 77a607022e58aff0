// The memory of one batch for recvmmsg(2) and sendmmsg(2): headers, I/O vectors, addresses and packets in the layout of 64-bit Linux. Only
// the layout; serve-udp-batches.ts makes the calls.
import { formatAddress } from '../ip/address.ts';

export const batchSize = 64;
/** Queries are small; a larger one is truncated here and then rejected as malformed. */
const questionSize = 2048;
/** The largest UDP reply, with room for OPT. */
const replySize = 4096 + 64;

/** struct mmsghdr. */
export const messageHeaderSize = 64;
const vectorSize = 16;
const nameSize = 32;

const namesAt = 2 * batchSize * (messageHeaderSize + vectorSize);
const questionsAt = namesAt + batchSize * nameSize;
const repliesAt = questionsAt + batchSize * questionSize;
export const batchBytes = repliesAt + batchSize * replySize;

export type UdpBatch = {
  readonly questions: readonly Buffer[];
  readonly replies: readonly Buffer[];
  /** Must be called before every recvmmsg, which overwrites the headers. */
  readonly prepare: () => void;
  readonly receivedLength: (index: number) => number;
  /** Queues the reply to a query at a position of the send batch. */
  readonly addReply: (position: number, index: number, length: number) => void;
  readonly senderAddress: (index: number) => string;
  readonly senderPort: (index: number) => number;
};

/** `base` is the address of the memory. */
export function createUdpBatch(memory: Buffer, base: bigint): UdpBatch {
  const view = new Uint32Array(memory.buffer, memory.byteOffset, namesAt / 4);
  const vectorsAt = 2 * batchSize * messageHeaderSize;
  for (let index = 0; index < 2 * batchSize; index += 1) {
    const header = index * messageHeaderSize;
    const vector = vectorsAt + index * vectorSize;
    const slot = index % batchSize;
    const data =
      index < batchSize ? questionsAt + slot * questionSize : repliesAt + slot * replySize;
    memory.writeBigUInt64LE(base + BigInt(namesAt + slot * nameSize), header);
    memory.writeBigUInt64LE(base + BigInt(vector), header + 16);
    memory.writeBigUInt64LE(1n, header + 24);
    memory.writeBigUInt64LE(base + BigInt(data), vector);
    memory.writeBigUInt64LE(BigInt(questionSize), vector + 8);
  }
  const slots = (start: number, size: number): readonly Buffer[] =>
    Array.from({ length: batchSize }, (_, index) =>
      memory.subarray(start + index * size, start + (index + 1) * size),
    );
  const names = slots(namesAt, nameSize);
  const slotAt = Array.from({ length: batchSize }, (_, index) => index);
  const nameLengthAt = (index: number): number => (index * messageHeaderSize) / 4 + 2;
  return {
    questions: slots(questionsAt, questionSize),
    replies: slots(repliesAt, replySize),
    prepare() {
      for (let index = 0; index < batchSize; index += 1) view[nameLengthAt(index)] = nameSize;
    },
    receivedLength: (index) => view[(index * messageHeaderSize) / 4 + 14] ?? 0,
    addReply(position, index, length) {
      const header = batchSize + position;
      const vector = vectorsAt + header * vectorSize;
      // The pointers are already right while every query has had a reply.
      if (slotAt[position] !== index) {
        slotAt[position] = index;
        const name = BigInt(namesAt + index * nameSize);
        memory.writeBigUInt64LE(base + name, header * messageHeaderSize);
        memory.writeBigUInt64LE(base + BigInt(repliesAt + index * replySize), vector);
      }
      view[nameLengthAt(header)] = view[nameLengthAt(index)] ?? 0;
      view[vector / 4 + 2] = length;
    },
    senderAddress: (index) => socketAddressText(names[index]),
    senderPort: (index) => names[index]?.readUInt16BE(2) ?? 0,
  };
}

const familyIPv4 = 2;

/** sockaddr_in and sockaddr_in6. */
function socketAddressText(name: Buffer | undefined): string {
  if (name === undefined) return '';
  if (name.readUInt16LE(0) === familyIPv4) return name.subarray(4, 8).join('.');
  return formatAddress({ family: 'IPv6', value: BigInt(`0x${name.toString('hex', 8, 24)}`) });
}

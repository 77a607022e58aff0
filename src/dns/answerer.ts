// Packets in, packets out. What many ask for is answered from encoded answers that hold until their Service changes; all else goes
// through the chain.
import { type Counters, handlerIndex, type Transfer } from './counters.ts';
import type { Lookup, Question, Reply } from './question.ts';
import type { ResponseCache } from './response-cache.ts';
import { type Answer, emptyAnswer } from './wire/answer.ts';
import { decodeQuery, ignored, type Query, queryName } from './wire/decode-query.ts';
import { classInternet, flags, largestMessage, rcodes } from './wire/record-types.ts';
import { extendedFlags, udpLimit, writeRejection, writeReply } from './wire/write-reply.ts';

/** Who sent the packet, as far as it is needed. */
export type Peer = Transfer & {
  readonly address: () => string;
  /** Sends a packet later. */
  readonly hold: () => (packet: Uint8Array) => void;
};

export type Answered = {
  readonly client: string;
  readonly isTcp: boolean;
  readonly query: Query;
  readonly rcode: number;
  readonly by: string;
  readonly bytes: number;
};

export type Answerer = {
  /** Writes the reply into `out` and returns its length; 0 when there is none, or when it comes later through the peer. */
  readonly handle: (packet: Buffer, length: number, out: Buffer, peer: Peer) => number;
  /** Questions that wait for somebody else. */
  readonly pending: () => number;
  /** Calls back once when none waits any more. */
  readonly whenIdle: (call: () => void) => void;
  /** Told of every answer while it is set: who asked what. */
  readonly setListener: (listener: ((answered: Answered) => void) | undefined) => void;
};

export type AnswererParts = {
  readonly chain: Lookup;
  readonly kept: ResponseCache;
  readonly counters: Counters;
  /** Whether names outside of the cluster are looked up at all. */
  readonly recurses: () => boolean;
  /** In [0, 2^32): turns the order of addresses. */
  readonly random: () => number;
  readonly now: () => number;
  /** Told of what must never happen; the packet is answered with a failure. */
  readonly broke: (error: unknown) => void;
};

/** The largest reply over UDP, whatever the asker says it takes: bounds what a forged address can be made to receive. */
const largestUdpReply = 4096;

export function createAnswerer(parts: AnswererParts): Answerer {
  const { counters, kept } = parts;
  let pending = 0;
  let idle: (() => void) | undefined;
  let listener: ((answered: Answered) => void) | undefined;

  const write = (packet: Buffer, query: Query, reply: Reply, out: Buffer, peer: Peer): number => {
    const size = peer.isTcp ? largestMessage : udpLimit(query, largestUdpReply);
    const { answer, by } = reply;
    const limits = { size, flags: parts.recurses() ? flags.recursionAvailable : 0 };
    const length = writeReply(out, packet, query, answer, limits, parts.random);
    const rcode = (answer.flags & flags.rcodeMask) | ((answer.flags >> 20) << 4);
    counters.response(rcode, handlerIndex(by), length, peer);
    if (by !== 'kubernetes') countSource(counters, by, answer);
    if (listener !== undefined) {
      const { isTcp } = peer;
      listener({ client: peer.address(), isTcp, query, rcode, by, bytes: length });
    }
    return length;
  };
  const later = (packet: Buffer, query: Query, coming: Promise<Reply>, peer: Peer): void => {
    const send = peer.hold();
    const question = Buffer.from(packet.subarray(0, query.end));
    const arrived = parts.now();
    // Whoever answers later is asked who they are now.
    const address = peer.address();
    const held = { ...peer, address: () => address };
    pending += 1;
    coming
      .catch((error: unknown) => failed(parts, error))
      .then((reply) => {
        const out = Buffer.allocUnsafe(laterSize(question, reply.answer));
        const length = write(question, query, reply, out, held);
        counters.duration((parts.now() - arrived) / 1000, 1);
        send(out.subarray(0, length));
      })
      .catch(parts.broke)
      .finally(() => {
        pending -= 1;
        if (pending === 0) idle?.();
      });
  };
  const answerSlowly = (packet: Buffer, query: Query, out: Buffer, peer: Peer): number => {
    const reply = parts.chain(questionOf(query, peer));
    if (!(reply instanceof Promise)) return write(packet, query, reply, out, peer);
    later(packet, query, reply, peer);
    return 0;
  };
  return {
    handle(packet, length, out, peer) {
      const query = decodeQuery(packet, length);
      if (typeof query === 'number') return reject(query, packet, out, peer, counters);
      counters.request(query.type, length, peer);
      if (query.dnssecOk) counters.add('dnssecOk');
      if (query.version !== 0) return write(packet, query, badVersion, out, peer);
      const known = query.class === classInternet ? kept.get(query.key) : undefined;
      if (known !== undefined) {
        return write(packet, query, { answer: known, by: 'kubernetes' }, out, peer);
      }
      try {
        return answerSlowly(packet, query, out, peer);
      } catch (error) {
        return write(packet, query, failed(parts, error), out, peer);
      }
    },
    pending: () => pending,
    whenIdle(call) {
      idle = call;
    },
    setListener(wanted) {
      listener = wanted;
    },
  };
}

const badVersion: Reply = { answer: emptyAnswer(extendedFlags(rcodes.BADVERS)), by: '' };

function failed({ broke }: AnswererParts, error: unknown): Reply {
  broke(error);
  return { answer: emptyAnswer(rcodes.SERVFAIL), by: '' };
}

function countSource(counters: Counters, by: string, answer: Answer): void {
  if (by === 'cache') counters.add(answer.answers > 0 ? 'cacheHitSuccess' : 'cacheHitDenial');
  else if (by === 'forward') counters.add('cacheMiss');
  else if (by === 'autopath') counters.add('autopathSuccess');
}

function reject(code: number, packet: Buffer, out: Buffer, peer: Peer, counters: Counters): number {
  if (code === ignored) {
    counters.add('dropped');
    return 0;
  }
  const length = writeRejection(out, packet, code);
  counters.response(code, 0, length, peer);
  return length;
}

function questionOf(query: Query, peer: Peer): Question {
  return {
    name: queryName(query),
    type: query.type,
    class: query.class,
    dnssecOk: query.dnssecOk,
    checkingDisabled: (query.flags & flags.checkingDisabled) !== 0,
    client: peer.address(),
    isOwn: false,
  };
}

/** The question, the answer and what may stand behind it. */
function laterSize(question: Buffer, answer: Answer): number {
  return question.length + answer.body.length + 64;
}

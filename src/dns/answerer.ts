// Turns query packets into reply packets. Frequent queries are answered from a cache of encoded responses, which are valid until their
// Service changes; all others go through the chain.
import type { AnsweredBy, Counters, Transfer } from './counters.ts';
import type { Lookup, Question, Reply } from './question.ts';
import type { ResponseCache } from './response-cache.ts';
import { type Answer, emptyAnswer } from './wire/answer.ts';
import { decodeQuery, ignored, type Query, queryName } from './wire/decode-query.ts';
import { classInternet, flags, maxMessageSize, rcodes } from './wire/record-types.ts';
import { extendedFlags, udpLimit, writeRejection, writeReply } from './wire/write-reply.ts';

/** The sender of a packet. */
export type Peer = Transfer & {
  readonly address: () => string;
  /** Returns a function that sends the reply later. */
  readonly deferReply: () => (packet: Uint8Array) => void;
};

export type Answered = {
  readonly client: string;
  readonly isTcp: boolean;
  readonly query: Query;
  readonly rcode: number;
  readonly by: AnsweredBy;
  readonly bytes: number;
};

export type Answerer = {
  /** Writes the reply into `out` and returns its length; 0 when there is none, or when it is deferred. */
  readonly handle: (packet: Buffer, length: number, out: Buffer, peer: Peer) => number;
  /** Deferred replies. */
  readonly pending: () => number;
  /** Calls back once when no reply is deferred any more. */
  readonly whenIdle: (call: () => void) => void;
  /** Called for every reply, for the query log. */
  readonly setListener: (listener: ((answered: Answered) => void) | undefined) => void;
};

export type AnswererParts = {
  readonly chain: Lookup;
  readonly responses: ResponseCache;
  readonly counters: Counters;
  /** Whether names outside of the cluster are looked up (the RA flag). */
  readonly recurses: () => boolean;
  /** In [0, 2^32): shuffles addresses. */
  readonly random: () => number;
  readonly now: () => number;
  /** Called with unexpected errors; the reply is SERVFAIL. */
  readonly onPanic: (error: unknown) => void;
};

/** The largest reply over UDP, whatever EDNS size the client offers: bounds amplification towards forged addresses. */
const maxUdpReplyBytes = 4096;

export function createAnswerer(parts: AnswererParts): Answerer {
  const { counters, responses } = parts;
  let pending = 0;
  let idle: (() => void) | undefined;
  let listener: ((answered: Answered) => void) | undefined;

  const write = (packet: Buffer, query: Query, reply: Reply, out: Buffer, peer: Peer): number => {
    const size = peer.isTcp ? maxMessageSize : udpLimit(query, maxUdpReplyBytes);
    const { answer, by } = reply;
    const limits = { size, flags: parts.recurses() ? flags.recursionAvailable : 0 };
    const length = writeReply(out, packet, query, answer, limits, parts.random);
    const rcode = (answer.flags & flags.rcodeMask) | ((answer.flags >> 20) << 4);
    counters.response(rcode, by, length, peer);
    if (by !== 'kubernetes') countSource(counters, by, answer);
    if (listener !== undefined) {
      const { isTcp } = peer;
      listener({ client: peer.address(), isTcp, query, rcode, by, bytes: length });
    }
    return length;
  };
  const answerLater = (
    packet: Buffer,
    query: Query,
    pendingReply: Promise<Reply>,
    peer: Peer,
  ): void => {
    const send = peer.deferReply();
    const question = Buffer.from(packet.subarray(0, query.end));
    const receivedAt = parts.now();
    // Read now: the peer object is reused for the next packet.
    const address = peer.address();
    const deferredPeer = { ...peer, address: () => address };
    pending += 1;
    pendingReply
      .catch((error: unknown) => failed(parts, error))
      .then((reply) => {
        const out = Buffer.allocUnsafe(deferredReplySize(question, reply.answer));
        const length = write(question, query, reply, out, deferredPeer);
        counters.duration((parts.now() - receivedAt) / 1000, 1);
        send(out.subarray(0, length));
      })
      .catch(parts.onPanic)
      .finally(() => {
        pending -= 1;
        if (pending === 0) idle?.();
      });
  };
  const answerByChain = (packet: Buffer, query: Query, out: Buffer, peer: Peer): number => {
    const reply = parts.chain(questionOf(query, peer));
    if (!(reply instanceof Promise)) return write(packet, query, reply, out, peer);
    answerLater(packet, query, reply, peer);
    return 0;
  };
  return {
    handle(packet, length, out, peer) {
      const query = decodeQuery(packet, length);
      if (typeof query === 'number') return reject(query, packet, out, peer, counters);
      counters.request(query.type, length, peer);
      if (query.dnssecOk) counters.add('dnssecOk');
      if (query.version !== 0) return write(packet, query, badVersion, out, peer);
      const known = query.class === classInternet ? responses.get(query.key) : undefined;
      if (known !== undefined) {
        return write(packet, query, { answer: known, by: 'kubernetes' }, out, peer);
      }
      try {
        return answerByChain(packet, query, out, peer);
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

function failed({ onPanic }: AnswererParts, error: unknown): Reply {
  onPanic(error);
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
  counters.response(code, '', length, peer);
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
    isInternal: false,
  };
}

/** The size of question and answer, with room for the header and OPT. */
function deferredReplySize(question: Buffer, answer: Answer): number {
  return question.length + answer.body.length + 64;
}

// One question to one server and back, over UDP or TCP. Each has a socket, and so a port, and an id of its own: whoever wants to
// forge the answer has to guess both.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../host/clock.ts';
import { encodePlainQuery, encodeQuery, type UpstreamQuestion } from '../wire/encode-query.ts';
import { type Message, readMessage } from '../wire/read-message.ts';
import { flags, headerSize, rcodes } from '../wire/record-types.ts';
import type { ServerAddress } from './upstream-servers.ts';

export type Exchange = {
  readonly server: ServerAddress;
  readonly question: UpstreamQuestion;
  readonly timeoutMs: number;
  readonly maxTtl: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** Rejects when the server cannot be reached, says nothing in time, or the signal comes. */
export function exchangeUdp(exchange: Exchange): Promise<Message> {
  const { server, question, maxTtl } = exchange;
  const id = randomInt(0x10000);
  return bounded(exchange, (settle) => {
    const socket = createSocket(server.host.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', settle.failed);
    let isPlain = false;
    socket.on('message', (bytes) => {
      if (!isPlain && refusesOptions(bytes, id)) {
        isPlain = true;
        socket.send(encodePlainQuery(id, question));
        return;
      }
      const message = readMessage(bytes, maxTtl);
      // What does not fit is not from the server we asked: go on listening.
      if (message !== undefined && fits(message, id, question)) settle.done(message);
    });
    // Connected, only that server's packets come in, and the kernel tells when nobody listens there.
    // By the event: a callback of connect() would be called for a failure as well, such as a machine without a route.
    socket.on('connect', () => {
      if (!settle.isOver()) socket.send(encodeQuery(id, question));
    });
    socket.connect(server.port, server.host);
    return () => socket.close();
  });
}

export function exchangeTcp(exchange: Exchange): Promise<Message> {
  const { server, question, maxTtl } = exchange;
  const id = randomInt(0x10000);
  return bounded(exchange, (settle) => {
    const socket = connect(server.port, server.host);
    const query = encodeQuery(id, question);
    const length = Buffer.from([query.length >> 8, query.length & 0xff]);
    let received = Buffer.alloc(0);
    socket.on('connect', () => socket.write(Buffer.concat([length, query])));
    socket.on('error', settle.failed);
    socket.on('close', () => settle.failed(new Error('the connection was closed')));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2) return;
      const end = 2 + received.readUInt16BE(0);
      if (received.length < end) return;
      const message = readMessage(received.subarray(2, end), maxTtl);
      if (message !== undefined && fits(message, id, question)) settle.done(message);
      else settle.failed(new Error('the answer is not for the question'));
    });
    return () => socket.destroy();
  });
}

/** RFC 6891, 6.2.2: a server that does not know EDNS says so in one of these ways, some with nothing but a header. */
function refusesOptions(bytes: Buffer, id: number): boolean {
  if (bytes.length < headerSize || bytes.readUInt16BE(0) !== id) return false;
  const word = bytes.readUInt16BE(2);
  const rcode = word & flags.rcodeMask;
  const isRefusal = rcode === rcodes.FORMERR || rcode === rcodes.NOTIMP;
  return (word & flags.response) !== 0 && isRefusal;
}

function fits({ id, question }: Message, wanted: number, asked: UpstreamQuestion): boolean {
  return id === wanted && question.name === asked.name && question.type === asked.type;
}

type Settle = {
  readonly done: (message: Message) => void;
  readonly failed: (error: Error) => void;
  readonly isOver: () => boolean;
};

/** Ends with the first of an answer, a failure, the time-out and the signal, and then closes what was opened. */
function bounded(
  { timeoutMs, clock, signal }: Exchange,
  open: (settle: Settle) => () => void,
): Promise<Message> {
  return new Promise((resolve, reject) => {
    let over = false;
    const end = (act: () => void): void => {
      if (over) return;
      over = true;
      cancel();
      signal.removeEventListener('abort', aborted);
      close();
      act();
    };
    const failed = (error: Error): void => end(() => reject(error));
    const aborted = (): void => failed(new Error('ended'));
    const cancel = clock.after(timeoutMs, () => failed(new Error('no answer in time')));
    signal.addEventListener('abort', aborted, { once: true });
    const close = open({
      done: (message) => end(() => resolve(message)),
      failed,
      isOver: () => over,
    });
    if (signal.aborted) aborted();
  });
}

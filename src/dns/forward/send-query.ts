// Sends one query to one server, over UDP or TCP. Each has its own socket, and so a random port, and a random id: a forged answer
// must guess both (RFC 5452).
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../host/clock.ts';
import { encodePlainQuery, encodeQuery, type UpstreamQuestion } from '../wire/encode-query.ts';
import { type Message, readMessage } from '../wire/read-message.ts';
import { classInternet, flags, headerSize, rcodes } from '../wire/record-types.ts';
import type { ServerAddress } from './upstream-servers.ts';

export type Exchange = {
  readonly server: ServerAddress;
  readonly question: UpstreamQuestion;
  readonly timeoutMs: number;
  readonly maxTtl: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** Rejects when the server is unreachable, on timeout, and on abort. */
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
      // Ignore packets that do not match the query: they may be forged.
      if (message !== undefined && matches(message, id, question)) settle.done(message);
    });
    // A connected socket receives only from that server, and reports ECONNREFUSED.
    // The callback of connect() is called for failures as well, such as a missing route; the event is not.
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
      if (message !== undefined && matches(message, id, question)) settle.done(message);
      else settle.failed(new Error('the response does not match the query'));
    });
    return () => socket.destroy();
  });
}

/** RFC 6891, 6.2.2: how servers without EDNS respond, some with a bare header. */
function refusesOptions(bytes: Buffer, id: number): boolean {
  if (bytes.length < headerSize || bytes.readUInt16BE(0) !== id) return false;
  const word = bytes.readUInt16BE(2);
  const rcode = word & flags.rcodeMask;
  const isRefusal = rcode === rcodes.FORMERR || rcode === rcodes.NOTIMP;
  return (word & flags.response) !== 0 && isRefusal;
}

function matches({ id, question }: Message, wanted: number, query: UpstreamQuestion): boolean {
  const isSame = question.name === query.name && question.type === query.type;
  return id === wanted && isSame && question.class === classInternet;
}

type Settle = {
  readonly done: (message: Message) => void;
  readonly failed: (error: Error) => void;
  readonly isOver: () => boolean;
};

/** Settles with the first of answer, failure, timeout and abort, and then closes the socket. */
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
    const aborted = (): void => failed(new Error('aborted'));
    const cancel = clock.after(timeoutMs, () => failed(new Error('no response in time')));
    signal.addEventListener('abort', aborted, { once: true });
    const close = open({
      done: (message) => end(() => resolve(message)),
      failed,
      isOver: () => over,
    });
    if (signal.aborted) aborted();
  });
}

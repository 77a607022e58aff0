// A DNS client over UDP and TCP that prints answers as text.
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { ServerAddress } from '../../../src/dns/forward/upstream-servers.ts';
import { answerText, type QuestionText, questionPacket } from '../../../src/dns/wire/example.ts';
import { nameText } from '../../../src/dns/wire/names.ts';
import { readMessage } from '../../../src/dns/wire/read-message.ts';

export type DnsAnswer = {
  /** The rcode, then one line per record of the answer. */
  readonly lines: readonly string[];
  readonly flags: number;
  readonly bytes: number;
  readonly id: number;
};

/** TTLs are not capped below a day. */
const maxTtl = 86_400;
const timeoutMs = 8000;

export async function askUdp(server: ServerAddress, question: QuestionText): Promise<DnsAnswer> {
  return readAnswer(await sendUdp(server, questionPacket(question)));
}

/** The first packet received. */
export function sendUdp(server: ServerAddress, packet: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(server.host.includes(':') ? 'udp6' : 'udp4');
    const end = (act: () => void): void => {
      clearTimeout(timer);
      socket.close();
      act();
    };
    const timer = setTimeout(() => end(() => reject(new Error('no answer'))), timeoutMs);
    socket.on('message', (bytes) => end(() => resolve(bytes)));
    socket.on('error', (error) => end(() => reject(error)));
    socket.send(packet, server.port, server.host);
  });
}

export async function askTcp(server: ServerAddress, question: QuestionText): Promise<DnsAnswer> {
  const [answer] = await askTcpAtOnce(server, [question]);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** Sends all queries in one write; returns the answers in the order of arrival. */
export function askTcpAtOnce(
  server: ServerAddress,
  questions: readonly QuestionText[],
): Promise<readonly DnsAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, server.host);
    const answers: DnsAnswer[] = [];
    let received = Buffer.alloc(0);
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        answers.push(readAnswer(received.subarray(2, end)));
        received = received.subarray(end);
      }
      if (answers.length < questions.length) return;
      resolve(answers);
      socket.destroy();
    });
    socket.write(Buffer.concat(questions.map((question) => framed(questionPacket(question)))));
  });
}

export function framed(packet: Buffer): Buffer {
  return Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet]);
}

export function readAnswer(bytes: Buffer): DnsAnswer {
  const message = readMessage(bytes, maxTtl);
  if (message === undefined) throw new Error(`cannot read ${bytes.toString('hex')}`);
  // The answer of a server is kept without the bit that says whose it is.
  const answer = { ...message.answer, flags: message.flags };
  const [code = '', ...records] = answerText(message.question.name, answer);
  const own = `${nameText(message.question.name)} `;
  return {
    lines: [code, ...records.map((record) => record.replace(own, '')).sort()],
    flags: message.flags,
    bytes: bytes.length,
    id: message.id,
  };
}

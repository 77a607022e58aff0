// An upstream server for tests: sends scripted answers over UDP and TCP on one port, and records queries.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { TestContext } from 'node:test';
import type { ServerAddress } from '../../../src/dns/forward/upstream-servers.ts';
import { decodeQuery, type Query, queryName } from '../../../src/dns/wire/decode-query.ts';
import { encodeAnswer, type ResourceRecord } from '../../../src/dns/wire/encode-answer.ts';
import { name } from '../../../src/dns/wire/example.ts';
import { nameText } from '../../../src/dns/wire/names.ts';
import { flags, headerSize, rcodes, types } from '../../../src/dns/wire/record-types.ts';
import { writeRejection, writeReply } from '../../../src/dns/wire/write-reply.ts';
import { framed } from './dns-client.ts';

export type Said = {
  readonly addresses?: readonly string[];
  readonly ttl?: number;
  readonly rcode?: number;
  /** Over UDP: truncated answers only. */
  readonly cut?: boolean;
  readonly silent?: boolean;
  /** Answers queries with EDNS by a bare header with FORMERR. */
  readonly isOld?: boolean;
  /** Over UDP: what others make of the answer, sent before it, from this server's port or another one. */
  readonly forgeries?: readonly Forgery[];
};

export type Forgery = {
  readonly change: (answer: Buffer) => Buffer;
  readonly fromOtherPort?: boolean;
};

export type TestUpstream = {
  readonly address: ServerAddress;
  /** Every query, as `udp www.example.com.`, in the order of arrival. */
  readonly queries: string[];
  /** Ports and ids of queries over UDP. */
  readonly sources: { readonly port: number; readonly id: number }[];
  /** Sets the answer for a name; other names do not exist. */
  readonly say: (text: string, said: Said) => void;
  readonly close: () => Promise<void>;
};

export async function startUpstream(t: TestContext): Promise<TestUpstream> {
  const known = new Map<string, Said>();
  const queries: string[] = [];
  const sources: { port: number; id: number }[] = [];
  const reply = (packet: Buffer, way: 'udp' | 'tcp'): Buffer | undefined => {
    const query = decodeQuery(packet, packet.length);
    if (typeof query === 'number') return undefined;
    const text = nameText(queryName(query));
    queries.push(`${way} ${text}`);
    const said = known.get(text) ?? { rcode: rcodes.NXDOMAIN };
    if (said.isOld && query.udpSize > 0) return rejection(packet);
    return said.silent ? undefined : encode(packet, query, said, way);
  };
  const server = createServer((connection) =>
    connection
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        const bytes = reply(chunk.subarray(2), 'tcp');
        if (bytes !== undefined) connection.write(framed(bytes));
      }),
  );
  const socket = await listenOnOnePort(server);
  const { port } = socket.address();
  const other = createSocket('udp4');
  const forgeriesFor = (packet: Buffer): readonly Forgery[] => {
    const query = decodeQuery(packet, packet.length);
    if (typeof query === 'number') return [];
    return known.get(nameText(queryName(query)))?.forgeries ?? [];
  };
  socket.on('message', (packet, { port: from, address }) => {
    sources.push({ port: from, id: packet.readUInt16BE(0) });
    const bytes = reply(packet, 'udp');
    if (bytes === undefined) return;
    for (const { change, fromOtherPort = false } of forgeriesFor(packet)) {
      const forger = fromOtherPort ? other : socket;
      forger.send(change(Buffer.from(bytes)), from, address);
    }
    socket.send(bytes, from, address);
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    socket.close();
    other.close();
    server.close();
    await once(socket, 'close');
  };
  t.after(close);
  return {
    address: { host: '127.0.0.1', port },
    queries,
    sources,
    say: (text, said) => void known.set(`${text}.`, said),
    close,
  };
}

function rejection(packet: Buffer): Buffer {
  const out = Buffer.alloc(headerSize);
  return out.subarray(0, writeRejection(out, packet, rcodes.FORMERR));
}

/** A port that is free for one protocol may be in use for the other. */
async function listenOnOnePort(server: Server): Promise<Socket> {
  for (let tries = 0; tries < 20; tries += 1) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = createSocket('udp4');
    try {
      socket.bind(port, '127.0.0.1');
      await once(socket, 'listening');
      return socket;
    } catch {
      socket.close();
      server.close();
      await once(server, 'close');
    }
  }
  throw new Error('Cannot find a port that is free for UDP and TCP');
}

function encode(packet: Buffer, query: Query, said: Said, way: 'udp' | 'tcp'): Buffer {
  const { addresses = [], ttl = 300, rcode = 0, cut = false } = said;
  const isCut = cut && way === 'udp';
  const records: readonly ResourceRecord[] = addresses.map((text) => ({
    name: queryName(query),
    type: types.A,
    ttl,
    data: [Uint8Array.from(text.split('.').map(Number))],
  }));
  const soa = {
    name: name('example.com'),
    type: types.SOA,
    ttl,
    data: [name('ns.example.com'), name('x.example.com'), new Uint8Array(20).fill(1)],
  };
  const isNo = records.length === 0 && !isCut && rcode !== rcodes.SERVFAIL;
  const answer = encodeAnswer(queryName(query), {
    flags: rcode | (isCut ? flags.truncated : 0),
    answers: isCut ? [] : records,
    authorities: isNo ? [soa] : [],
  });
  const out = Buffer.alloc(65_535);
  const size = way === 'udp' ? Math.max(query.udpSize, 512) : 65_535;
  const length = writeReply(out, packet, query, answer, { size, flags: 0x80 }, () => 0);
  return out.subarray(0, length);
}

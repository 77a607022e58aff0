// Reads that wait for revisions of other programs, which arrive as no event, on members that support progress requests and on others.
// The members are simulated: a real one of each release is not at hand everywhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  decodeMessage,
  encodeMessage,
  type MessageFields,
} from '../../../schema/protobuf/message-fields.ts';

import { openEtcdStore } from './store.ts';

type Member = {
  readonly url: string;
  /** Another program writes, outside the store's prefix. */
  readonly writeElsewhere: () => void;
  readonly progressRequests: () => number;
  readonly writtenKeys: () => number;
  /** Its version was requested, and it has answered. */
  readonly isKnown: Promise<void>;
};

type Behaviour = {
  /** Absent: the call is unimplemented. */
  readonly version?: string;
  readonly answersProgress: boolean;
};

const unimplemented = '12';
/** The watch id of responses that belong to no single watch, as real members write it: -1. */
const noWatch = Buffer.from(`10${'ff'.repeat(9)}01`, 'hex');

async function startMember(t: TestContext, behaviour: Behaviour): Promise<Member> {
  let revision = 10;
  let progressRequests = 0;
  let writtenKeys = 0;
  let known = (): void => {};
  const isKnown = new Promise<void>((resolve) => {
    known = resolve;
  });
  const watches = new Set<ServerHttp2Stream>();
  const header = (): MessageFields => [[3, revision]];
  const answers: Readonly<Record<string, (stream: ServerHttp2Stream, body: Buffer) => void>> = {
    '/etcdserverpb.KV/Range': (stream) => finish(stream, withHeader(header())),
    '/etcdserverpb.KV/Txn': (stream, body) => {
      revision += 1;
      writtenKeys += 1;
      const operation = nested(nested(body, 2), 2);
      const key = decodeMessage(operation).bytes(1) ?? Buffer.alloc(0);
      const event = putEvent(key, revision);
      for (const watch of watches) send(watch, withHeader(header(), [11, event]));
      finish(stream, withHeader(header(), [2, true]));
    },
    '/etcdserverpb.Maintenance/Status': (stream) => {
      const { version } = behaviour;
      if (version === undefined) refuse(stream, unimplemented);
      else finish(stream, withHeader(header(), [2, version]));
      known();
    },
  };
  const watch = (stream: ServerHttp2Stream): void => {
    watches.add(stream);
    begin(stream);
    stream.on('data', (frame: Buffer) => {
      const request = decodeMessage(frame.subarray(5));
      if (request.bytes(1) !== undefined) send(stream, withHeader(header(), [3, true]));
      if (request.bytes(3) === undefined) return;
      progressRequests += 1;
      if (behaviour.answersProgress) send(stream, Buffer.concat([withHeader(header()), noWatch]));
    });
  };
  const server = createServer();
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => {});
    if (path === '/etcdserverpb.Watch/Watch') return watch(stream);
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => answers[path]?.(stream, Buffer.concat(pieces).subarray(5)));
  });
  await listen(t, server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writeElsewhere() {
      revision += 1;
    },
    progressRequests: () => progressRequests,
    writtenKeys: () => writtenKeys,
    isKnown,
  };
}

async function listen(t: TestContext, server: Http2Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
}

const withHeader = (header: MessageFields, ...rest: MessageFields): Uint8Array =>
  encodeMessage([[1, header], ...rest]);

const nested = (message: Uint8Array, field: number): Uint8Array =>
  decodeMessage(message).bytes(field) ?? Buffer.alloc(0);

const putEvent = (key: Uint8Array, revision: number): MessageFields => [
  [
    2,
    [
      [1, key],
      [2, revision],
      [3, revision],
    ],
  ],
];

const begin = (stream: ServerHttp2Stream): void =>
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });

function send(stream: ServerHttp2Stream, message: Uint8Array): void {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.write(Buffer.concat([head, message]));
}

function finish(stream: ServerHttp2Stream, message: Uint8Array): void {
  begin(stream);
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  send(stream, message);
  stream.end();
}

const refuse = (stream: ServerHttp2Stream, status: string): void =>
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status },
    { endStream: true },
  );

const cases: readonly {
  readonly title: string;
  readonly behaviour: Behaviour;
  readonly sendsRequest: boolean;
  readonly writesKey: boolean;
}[] = [
  {
    title: 'sends a progress request to a member that supports it, and writes nothing',
    behaviour: { version: '3.5.16', answersProgress: true },
    ...{ sendsRequest: true, writesKey: false },
  },
  {
    title: 'writes a key on a member that answers before its events',
    behaviour: { version: '3.4.23', answersProgress: true },
    ...{ sendsRequest: false, writesKey: true },
  },
  {
    title: 'writes a key on a member of unknown version',
    behaviour: { answersProgress: true },
    ...{ sendsRequest: false, writesKey: true },
  },
  {
    title: 'writes a key when a member does not answer progress requests',
    behaviour: { version: '3.6.0', answersProgress: false },
    ...{ sendsRequest: true, writesKey: true },
  },
];

for (const { title, behaviour, sendsRequest, writesKey } of cases) {
  test(`catchUp() ${title}`, { timeout: 30_000 }, async (t) => {
    const member = await startMember(t, behaviour);
    const store = await openEtcdStore({ endpoints: [member.url], prefix: '/p', now: Date.now });
    t.after(() => store.close());
    await member.isKnown;
    // Responses arrive in order: after this one, the version is there.
    await store.currentRevision();
    for (let n = 0; n < 3; n += 1) {
      member.writeElsewhere();
      await store.catchUp?.();
    }
    assert.equal(member.writtenKeys() > 0, writesKey, `${member.writtenKeys()} keys written`);
    assert.equal(
      member.progressRequests() > 0,
      sendsRequest,
      `${member.progressRequests()} progress requests`,
    );
  });
}

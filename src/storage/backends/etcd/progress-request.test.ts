// Reads that wait for revisions which are other programs' and come as no event, with members that can be asked how far a watch is and
// with those that cannot. The members are made up: a real one of a release that can be asked is not at hand everywhere.
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
  /** Somebody else writes, under a key that is not ours. */
  readonly writeElsewhere: () => void;
  readonly progressAsked: () => number;
  readonly ticks: () => number;
  /** It was asked what it is, and has answered. */
  readonly isKnown: Promise<void>;
};

type Behaviour = {
  /** Absent: it does not know the call. */
  readonly version?: string;
  readonly answersProgress: boolean;
};

const unimplemented = '12';
/** Of answers that belong to no single watch, as real members write it: -1. */
const noWatch = Buffer.from(`10${'ff'.repeat(9)}01`, 'hex');

async function startMember(t: TestContext, behaviour: Behaviour): Promise<Member> {
  let revision = 10;
  let progressAsked = 0;
  let ticks = 0;
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
      ticks += 1;
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
      progressAsked += 1;
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
    progressAsked: () => progressAsked,
    ticks: () => ticks,
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
  readonly isAsked: boolean;
  readonly writesTick: boolean;
}[] = [
  {
    title: 'a member that can be asked is asked, and nothing is written',
    behaviour: { version: '3.5.16', answersProgress: true },
    ...{ isAsked: true, writesTick: false },
  },
  {
    title: 'a member that answers too early is not asked: a key is written',
    behaviour: { version: '3.4.23', answersProgress: true },
    ...{ isAsked: false, writesTick: true },
  },
  {
    title: 'a member that does not say what it is is not asked',
    behaviour: { answersProgress: true },
    ...{ isAsked: false, writesTick: true },
  },
  {
    title: 'of a member that is asked and does not answer, a written key tells',
    behaviour: { version: '3.6.0', answersProgress: false },
    ...{ isAsked: true, writesTick: true },
  },
];

for (const { title, behaviour, isAsked, writesTick } of cases) {
  test(`catchUp(): ${title}`, { timeout: 30_000 }, async (t) => {
    const member = await startMember(t, behaviour);
    const store = await openEtcdStore({ endpoints: [member.url], prefix: '/p', now: Date.now });
    t.after(() => store.close());
    await member.isKnown;
    // Answers come in their order: when this one is there, so is the other.
    await store.currentRevision();
    for (let n = 0; n < 3; n += 1) {
      member.writeElsewhere();
      await store.catchUp?.();
    }
    assert.equal(member.ticks() > 0, writesTick, `${member.ticks()} keys written`);
    assert.equal(member.progressAsked() > 0, isAsked, `${member.progressAsked()} times asked`);
  });
}

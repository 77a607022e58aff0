import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureAnswer, jsonAnswer, scriptedTransport } from '../../client/example.ts';
import { resourceClient } from '../../client/rest.ts';
import type { TransportResponse } from '../../client/transport.ts';
import { createFakeClock } from '../../host/fake-clock.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { type Log, silentLog } from '../../observe/log.ts';
import { createStatusWriter } from './write-status.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'a', name: 'web', uid: 'u1' },
  spec: { containers: [] },
  status: { phase: 'Pending' },
} as unknown as Pod;
const running = { phase: 'Running' } as PodStatus;
const failed = { phase: 'Failed' } as PodStatus;
const limit = { timeout: 10_000 };

function refusal(code: number, reason: string, field?: string): TransportResponse {
  const details = field === undefined ? {} : { details: { causes: [{ field }] } };
  return jsonAnswer(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code, ...details },
    code,
  );
}

function setUp(answer: (index: number) => TransportResponse | Promise<TransportResponse>) {
  const transport = scriptedTransport((_request, index) => answer(index));
  const clock = createFakeClock();
  const lines: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (line) => lines.push(line),
    error: (line) => lines.push(line),
  };
  const client = resourceClient({ transport, userAgent: 'test' }, podDefinition);
  const ending = new AbortController();
  const writer = createStatusWriter({ client, clock, log }, ending.signal);
  return { transport, clock, lines, writer, ending };
}

test('report() gives up a refusal that cannot heal, with one line', limit, async () => {
  const { transport, clock, lines, writer } = setUp(() => refusal(422, 'Invalid', 'status.phase'));
  writer.report(pod, running);
  await writer.reported('u1');
  await clock.advance(600_000);
  assert.equal(transport.requests.length, 1);
  assert.deepEqual(lines, ['Failed to write pod status, giving up']);
});

test('report() writes the next status after a refusal', limit, async () => {
  const { transport, writer } = setUp((index) =>
    index === 0 ? refusal(400, 'BadRequest') : jsonAnswer({ ...pod, status: failed }),
  );
  writer.report(pod, running);
  await writer.reported('u1');
  writer.report(pod, failed);
  await writer.reported('u1');
  assert.deepEqual(JSON.parse(String(transport.requests[1]?.body)).status, { phase: 'Failed' });
});

test('report() writes the status that came while another was refused', limit, async () => {
  let resolve: (answer: TransportResponse) => void = () => {};
  const promise = new Promise<TransportResponse>((settle) => {
    resolve = settle;
  });
  const { transport, clock, writer } = setUp((index) =>
    index === 0 ? promise : jsonAnswer({ ...pod, status: failed }),
  );
  writer.report(pod, running);
  await clock.settle();
  writer.report(pod, failed);
  resolve(refusal(422, 'Invalid', 'status.phase'));
  await writer.reported('u1');
  assert.equal(transport.requests.length, 2);
});

for (const [what, answer] of [
  ['was deleted', () => failureAnswer(404, 'NotFound')],
  ['was replaced by another of its name', () => refusal(422, 'Invalid', 'metadata.uid')],
] as const) {
  test(`report() ends without a line when the pod ${what}`, limit, async () => {
    const { transport, lines, writer } = setUp(answer);
    writer.report(pod, running);
    await writer.reported('u1');
    assert.deepEqual([transport.requests.length, lines], [1, []]);
  });
}

for (const [code, reason] of [
  [403, 'Forbidden'],
  [409, 'Conflict'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
] as const) {
  test(`report() repeats a write refused with ${code}, with growing pauses`, limit, async () => {
    const { transport, clock, writer } = setUp((index) =>
      index < 10 ? failureAnswer(code, reason) : jsonAnswer({ ...pod, status: running }),
    );
    writer.report(pod, running);
    await clock.advance(1000);
    assert.equal(transport.requests.length, 3);
    await clock.advance(60_000);
    await writer.reported('u1');
    assert.equal(transport.requests.length, 11);
  });
}

test('forget() ends the attempts for a pod, and those who wait for them', limit, async () => {
  const { transport, clock, writer } = setUp(() => failureAnswer(500, 'InternalError'));
  writer.report(pod, running);
  await clock.settle();
  const reported = writer.reported('u1');
  writer.forget('u1');
  await reported;
  await writer.settled();
  await clock.advance(600_000);
  assert.equal(transport.requests.length, 1);
});

test('forget() ends the wait for a server that does not answer', limit, async () => {
  const { writer } = setUp(() => new Promise(() => {}));
  writer.report(pod, running);
  const reported = writer.reported('u1');
  writer.forget('u1');
  await reported;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureAnswer, jsonAnswer, scriptedTransport } from '../../client/example.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { createFakeClock } from '../../host/fake-clock.ts';
import type { NodeStatus } from '../../kinds/node/types.ts';
import { isInvalid } from '../../meta/api-error.ts';
import { silentLog } from '../../observe/log.ts';
import { readMachine } from './read-machine.ts';
import { type RegistrationOptions, registerNode, runHeartbeats } from './run-registration.ts';

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u' } };
const facts = readMachine('/');
const limit = { timeout: 10_000 };

function setUp(answer: (request: TransportRequest, index: number) => TransportResponse) {
  const transport = scriptedTransport(answer);
  const clock = createFakeClock();
  let change: () => void = () => {};
  const options: RegistrationOptions = {
    caller: { transport, userAgent: 'test' },
    ...{ clock, facts, log: silentLog, name: 'n', labels: {}, annotations: {} },
    status: () => ({ phase: 'Running' }) as NodeStatus,
    onStatusChange: (listener) => {
      change = listener;
    },
  };
  return { transport, clock, options, change: () => change() };
}

test('registerNode() rejects when the server refuses the node for good', limit, async () => {
  const { transport, options } = setUp(() => failureAnswer(422, 'Invalid'));
  await assert.rejects(registerNode(options, new AbortController().signal), isInvalid);
  assert.equal(transport.requests.length, 1);
});

test('registerNode() repeats other failures with growing pauses', limit, async () => {
  const { transport, clock, options } = setUp((_request, index) =>
    index < 3 ? failureAnswer(403, 'Forbidden') : jsonAnswer(node),
  );
  const registered = registerNode(options, new AbortController().signal);
  await clock.advance(2999);
  assert.equal(transport.requests.length, 2);
  await clock.advance(10_000);
  assert.equal((await registered).metadata.name, 'n');
});

test(
  'runHeartbeats() writes a changed status that the server refused at first',
  limit,
  async () => {
    let refusals = 0;
    const { transport, clock, options, change } = setUp(({ path, method }) => {
      if (method !== 'PATCH' || !path.includes('/status') || refusals === 0)
        return jsonAnswer(node);
      refusals -= 1;
      return failureAnswer(500, 'InternalError');
    });
    const writes = (): number =>
      transport.requests.filter(({ path }) => path.startsWith('/api/v1/nodes/n/status')).length;
    const ending = new AbortController();
    const ended = runHeartbeats(options, ending.signal);
    await clock.settle();
    assert.equal(writes(), 1);
    refusals = 1;
    change();
    await clock.settle();
    assert.equal(writes(), 2);
    await clock.advance(10_000);
    assert.equal(writes(), 3);
    await clock.advance(10_000);
    assert.equal(writes(), 3);
    ending.abort();
    await ended;
  },
);

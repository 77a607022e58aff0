import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import { silentLog } from '../observe/log.ts';
import { createEventRecorder } from './event-recorder.ts';
import { exampleConfigMap, failureAnswer, jsonAnswer, scriptedTransport } from './example.ts';

test('record() creates an Event, increments its count, and creates another when it has expired', async () => {
  const transport = scriptedTransport((_request, index) =>
    index === 2
      ? failureAnswer(404, 'NotFound')
      : jsonAnswer({ kind: 'Event', apiVersion: 'v1', metadata: {} }),
  );
  const recorder = createEventRecorder({
    caller: { transport, userAgent: 'test' },
    component: 'tester',
    clock: createFakeClock(1_000_000),
    log: silentLog,
  });
  const object = exampleConfigMap('web', { uid: 'u' });
  const event = { type: 'Warning', reason: 'Failed', message: 'no' } as const;
  for (let i = 0; i < 3; i += 1) recorder.record(object, event);
  await recorder.flushed();
  const [created, counted, , again] = transport.requests;
  const body = JSON.parse(String(created?.body));
  assert.equal(created?.path, '/api/v1/namespaces/a/events');
  assert.match(body.metadata.name, /^web\.[0-9a-f]+$/);
  assert.deepEqual(body.involvedObject, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    namespace: 'a',
    name: 'web',
    uid: 'u',
  });
  assert.deepEqual(
    [body.reason, body.message, body.count, body.firstTimestamp, body.source],
    ['Failed', 'no', 1, '1970-01-01T00:16:40Z', { component: 'tester' }],
  );
  assert.equal(counted?.method, 'PATCH');
  assert.equal(counted?.path, `/api/v1/namespaces/a/events/${body.metadata.name}`);
  assert.deepEqual(JSON.parse(String(counted?.body)), {
    message: 'no',
    count: 2,
    lastTimestamp: '1970-01-01T00:16:40Z',
  });
  assert.equal(again?.method, 'POST');
});

test('record() ignores refusals of the server', async () => {
  const transport = scriptedTransport(() => failureAnswer(403, 'Forbidden'));
  const recorder = createEventRecorder({
    caller: { transport, userAgent: 'test' },
    component: 'tester',
    clock: createFakeClock(),
    log: silentLog,
  });
  recorder.record(exampleConfigMap('web'), { type: 'Normal', reason: 'Done', message: 'yes' });
  await recorder.flushed();
  assert.equal(transport.requests.length, 1);
});

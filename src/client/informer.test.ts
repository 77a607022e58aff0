import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { ConfigMap } from '../kinds/config-map/types.ts';
import { silentLog } from '../observe/log.ts';
import {
  configMaps,
  exampleConfigMap,
  failureAnswer,
  jsonAnswer,
  scriptedTransport,
  watchAnswer,
} from './example.ts';
import { type Informer, startInformer } from './informer.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

const at = (name: string, version: number, uid = `uid-${name}`): ConfigMap =>
  exampleConfigMap(name, { resourceVersion: String(version), uid });
const event = (type: string, object: unknown) => ({ type, object });
const bookmark = (version: number) =>
  event('BOOKMARK', { metadata: { resourceVersion: String(version) } });
const stateEnd = (version: number) =>
  event('BOOKMARK', {
    metadata: {
      resourceVersion: String(version),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    },
  });

function setUp(answers: readonly ((request: TransportRequest) => TransportResponse)[]) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const transport = scriptedTransport((request, index) => {
    const answer = answers[index] ?? (() => watchAnswer([], request.signal));
    return answer(request);
  });
  const notified: string[] = [];
  const warnings: string[] = [];
  const informer: Informer<ConfigMap> = startInformer(
    {
      caller: { transport, userAgent: 'test' },
      type: configMaps,
      clock,
      log: {
        ...silentLog,
        warn: (message, fields) => warnings.push(`${message}: ${fields?.error}`),
      },
      random: () => 0,
    },
    stop.signal,
  );
  const text = ({ metadata }: ConfigMap): string => `${metadata.name}@${metadata.resourceVersion}`;
  informer.onChange({
    add: (object) => notified.push(`add ${text(object)}`),
    update: (before, after) => notified.push(`update ${text(before)} ${text(after)}`),
    delete: (object) => notified.push(`delete ${text(object)}`),
  });
  const queries = (): readonly (string | null)[][] =>
    transport.requests.map(({ path }) => {
      const query = new URLSearchParams(path.split('?')[1]);
      return [query.get('watch'), query.get('sendInitialEvents'), query.get('resourceVersion')];
    });
  const end = async (): Promise<void> => {
    stop.abort();
    await informer.ended;
  };
  return { clock, informer, notified, warnings, queries, end };
}

const streaming = ['true', 'true', null];
const from = (version: string) => ['true', null, version];

test('startInformer() streams the state, replaces the store at once, and follows the changes', async () => {
  const { clock, informer, notified, queries, end } = setUp([
    () =>
      watchAnswer([
        event('ADDED', at('x', 1)),
        event('ADDED', at('y', 2)),
        stateEnd(5),
        event('MODIFIED', at('x', 6)),
        event('DELETED', at('y', 7)),
      ]),
  ]);
  await clock.settle();
  assert.equal(informer.hasSynced(), true);
  assert.deepEqual(notified, ['add x@1', 'add y@2', 'update x@1 x@6', 'delete y@2']);
  assert.deepEqual([...informer.store.keys()], ['a/x']);
  assert.deepEqual(queries(), [streaming, from('7')]);
  await end();
});

test('startInformer() resumes a watch from the last version, bookmarks included', async () => {
  const { clock, queries, notified, end } = setUp([
    () => watchAnswer([stateEnd(5), bookmark(9)]),
    () => watchAnswer([event('ADDED', at('x', 12))]),
  ]);
  await clock.settle();
  assert.deepEqual(notified, ['add x@12']);
  assert.deepEqual(queries(), [streaming, from('9'), from('12')]);
  await end();
});

test('startInformer() retries a broken connection with back-off, without a relist', async () => {
  const broken = (): never => {
    throw new Error('connection reset');
  };
  const { clock, queries, end } = setUp([() => watchAnswer([stateEnd(5)]), broken, broken, broken]);
  await clock.settle();
  assert.equal(queries().length, 2);
  await clock.advance(100);
  assert.equal(queries().length, 3);
  await clock.advance(199);
  assert.equal(queries().length, 3);
  await clock.advance(1);
  assert.equal(queries().length, 4);
  await clock.advance(400);
  assert.deepEqual(queries().slice(1), [from('5'), from('5'), from('5'), from('5')]);
  await end();
});

test('startInformer() warns about an unreachable server after some failures, and again much later', async () => {
  const broken = (): never => {
    throw new Error('connection refused');
  };
  const { clock, warnings, end } = setUp(Array.from({ length: 30 }, () => broken));
  await clock.advance(100 + 200 + 400);
  assert.deepEqual(warnings, []);
  await clock.advance(800);
  assert.deepEqual(warnings, ['Watch failed, retrying: Error: connection refused']);
  for (let failure = 6; failure <= 25; failure++) await clock.advance(30_000);
  assert.equal(warnings.length, 2);
  await end();
});

test('startInformer() reads the state again when the version is gone, and reports what was deleted meanwhile', async () => {
  const { clock, notified, queries, end } = setUp([
    () =>
      watchAnswer([
        event('ADDED', at('x', 1)),
        event('ADDED', at('y', 2)),
        event('ADDED', at('z', 3)),
        stateEnd(5),
      ]),
    () => watchAnswer([event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })]),
    (request) =>
      watchAnswer(
        [event('ADDED', at('x', 1)), event('ADDED', at('y', 8)), stateEnd(9)],
        request.signal,
      ),
  ]);
  await clock.settle();
  assert.deepEqual(notified.slice(3), ['delete z@3', 'update y@2 y@8']);
  assert.deepEqual(queries(), [streaming, from('5'), streaming]);
  await end();
});

test('startInformer() lists and watches a server that cannot stream lists', async () => {
  const { clock, informer, notified, queries, end } = setUp([
    () => failureAnswer(422, 'Invalid'),
    () =>
      jsonAnswer({
        metadata: { resourceVersion: '4' },
        items: [{ metadata: at('x', 1).metadata }],
      }),
    (request) => watchAnswer([event('MODIFIED', at('x', 5))], request.signal),
  ]);
  await clock.settle();
  assert.equal(informer.hasSynced(), true);
  assert.deepEqual(notified, ['add x@1', 'update x@1 x@5']);
  assert.deepEqual(queries(), [streaming, [null, null, null], from('4')]);
  await end();
});

test('startInformer() lists when the server aborts the streamed state', async () => {
  const { clock, notified, queries, end } = setUp([
    () => watchAnswer([event('ADDED', at('x', 1)), event('ERROR', { kind: 'Status', code: 410 })]),
    () =>
      jsonAnswer({
        metadata: { resourceVersion: '4' },
        items: [{ metadata: at('x', 1).metadata }],
      }),
  ]);
  await clock.settle();
  assert.deepEqual(notified, ['add x@1']);
  assert.deepEqual(queries(), [streaming, [null, null, null], from('4')]);
  await end();
});

test('startInformer() discards an incomplete streamed state and lists instead', async () => {
  const { clock, informer, notified, queries, end } = setUp([
    () => watchAnswer([event('ADDED', at('x', 1))]),
    () => failureAnswer(500, 'InternalError'),
    () => watchAnswer([event('ADDED', at('x', 1))]),
    () => jsonAnswer({ metadata: { resourceVersion: '4' }, items: [at('y', 1)] }),
  ]);
  await clock.settle();
  assert.equal(informer.hasSynced(), false);
  // The waits grow, although a part of the state arrived each time.
  await clock.advance(100 + 200 + 399);
  assert.equal(informer.hasSynced(), false);
  await clock.advance(1);
  assert.deepEqual(notified, ['add y@1']);
  const listed = [null, null, null];
  assert.deepEqual(queries(), [streaming, listed, streaming, listed, from('4')]);
  await end();
});

test('onChange() reports the present objects to a late handler; a handler that throws disturbs no other', async () => {
  const { clock, informer, end } = setUp([
    (request) => watchAnswer([event('ADDED', at('x', 1)), stateEnd(2)], request.signal),
  ]);
  await clock.settle();
  const names: string[] = [];
  informer.onChange({
    add: () => {
      throw new Error('broken handler');
    },
  });
  informer.onChange({ add: ({ metadata }) => names.push(metadata.name ?? '') });
  assert.deepEqual(names, ['x']);
  await end();
});

test('synced() resolves when the informer is stopped before it has synced', async () => {
  const { informer, end } = setUp([(request) => watchAnswer([], request.signal)]);
  const waiting = informer.synced();
  await end();
  await waiting;
  assert.equal(informer.hasSynced(), false);
});

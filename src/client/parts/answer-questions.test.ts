import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../host/fake-clock.ts';
import { positionQuestion } from '../../kinds/part/position.ts';
import { type Log, silentLog } from '../../observe/log.ts';
import { failureAnswer, jsonAnswer, scriptedTransport, watchAnswer } from '../example.ts';
import type { TransportRequest, TransportResponse } from '../transport.ts';
import { answerQuestions, answerTo } from './answer-questions.ts';

const root = '/apis/parts.fairlead.dev/v1alpha1';
const spec = { services: 1, slices: 2 };
const value = { applied: { services: 5, slices: 6 } };

function start(
  t: TestContext,
  answer: (request: TransportRequest, index: number) => TransportResponse,
  reply: (signal: AbortSignal) => Promise<typeof value> = () => Promise.resolve(value),
) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const log: Log = { ...silentLog, debug: (message) => void lines.push(message) };
  const transport = scriptedTransport(answer);
  const stopping = new AbortController();
  const ended = answerQuestions(
    {
      ...{ caller: { transport, userAgent: 'test' }, clock, log, random: () => 0 },
      part: { kind: 'proxy', node: 'a' },
      handlers: [answerTo(positionQuestion, (_spec, signal) => reply(signal))],
    },
    stopping.signal,
  );
  t.after(async () => {
    stopping.abort();
    await ended;
  });
  const paths = (): readonly string[] => transport.requests.map(({ path }) => path);
  const bodies = (): readonly unknown[] =>
    transport.requests.flatMap(({ body }) =>
      body === undefined ? [] : [JSON.parse(String(body))],
    );
  return { clock, lines, paths, bodies, signal: stopping.signal };
}

const stream = (request: TransportRequest, ...lines: readonly unknown[]): TransportResponse => {
  if (request.path === root) return jsonAnswer({});
  if (request.method === 'POST') return jsonAnswer({}, 201);
  return watchAnswer([{ connection: 'c' }, ...lines], request.signal);
};

test('answerQuestions() leaves an API server alone that has no such resource', async (t) => {
  const { clock, lines, paths } = start(t, () => failureAnswer(404, 'NotFound'));
  await clock.advance(3_600_000);
  assert.deepEqual([...new Set(paths())], [root]);
  assert.equal(paths().length, 7);
  assert.deepEqual(lines, ['API server takes no reports of parts']);
});

test('answerQuestions() sends nothing while there is no question', async (t) => {
  const { clock, paths } = start(t, (request) => stream(request));
  await clock.advance(24 * 3_600_000);
  assert.deepEqual(paths(), [root, `${root}/parts/proxy.a/questions`]);
});

test('answerQuestions() answers questions of one moment with one request', async (t) => {
  const ids = ['1', '2', '3'];
  const questions = ids.map((id) => ({ id, question: 'Position', spec }));
  const { clock, bodies } = start(t, (request) => stream(request, ...questions));
  await clock.settle();
  assert.deepEqual(bodies(), [
    {
      ...{ apiVersion: 'parts.fairlead.dev/v1alpha1', kind: 'AnswerList', connection: 'c' },
      items: ids.map((id) => ({ id, value })),
    },
  ]);
});

test('answerQuestions() says why it has no answer', async (t) => {
  const { clock, bodies } = start(t, (request) =>
    stream(
      request,
      { id: '1', question: 'Weather', spec },
      { id: '2', question: 'Position', spec: 'x' },
    ),
  );
  await clock.settle();
  const items = bodies().flatMap((body) => (body as { items: readonly unknown[] }).items);
  assert.deepEqual(items, [
    { id: '1', error: 'unknown question' },
    { id: '2', error: 'Error: Cannot read the question Position' },
  ]);
});

test('answerQuestions() drops a question that is cancelled', async (t) => {
  const signals: AbortSignal[] = [];
  const { clock, bodies } = start(
    t,
    (request) => stream(request, { id: '1', question: 'Position', spec }, { cancel: '1' }),
    (signal) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(value)));
    },
  );
  await clock.settle();
  assert.equal(signals[0]?.aborted, true);
  assert.deepEqual(bodies(), []);
});

test('answerQuestions() comes back with growing waits while the server is down', async (t) => {
  const { clock, paths } = start(t, (request, index) => {
    if (index >= 1 && index < 6) throw new Error('connection refused');
    return stream(request);
  });
  await clock.advance(60_000);
  // At 0, 1, 3, 7, 15 and 31 seconds; then the stream is open.
  assert.equal(paths().length, 8);
  assert.equal(paths().at(-1), `${root}/parts/proxy.a/questions`);
});

test('answerQuestions() repeats a request with answers, and gives up in the end', async (t) => {
  const { clock, paths } = start(t, (request) => {
    if (request.method === 'POST') throw new Error('reset');
    return stream(request, { id: '1', question: 'Position', spec });
  });
  await clock.advance(60_000);
  assert.equal(paths().filter((path) => path.endsWith('/answers')).length, 3);
});

// Questions to parts over a real API server: who may connect, who answers, and what happens when one of them does not.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ApiCaller } from '../../../src/client/api-call.ts';
import { answerQuestions, answerTo } from '../../../src/client/parts/answer-questions.ts';
import { systemClock } from '../../../src/host/clock.ts';
import type { PartName } from '../../../src/kinds/part/names.ts';
import { type Position, positionQuestion } from '../../../src/kinds/part/position.ts';
import type { Question } from '../../../src/kinds/part/question.ts';
import { may } from '../../../src/kinds/rbac/rights.ts';
import { type Log, silentLog } from '../../../src/observe/log.ts';
import { type RightsHarness, startRightsHarness } from '../harness/rights-harness.ts';

const limit = { timeout: 60_000 };
const parts = { group: 'parts.fairlead.dev', plural: 'parts' };
const rights = [
  may('get', parts, { subresource: 'questions' }),
  may('create', parts, { subresource: 'answers' }),
];
const value: Position = { applied: { services: 7, slices: 8 }, mode: 'nftables' };

async function start(t: TestContext): Promise<RightsHarness> {
  const harness = await startRightsHarness();
  t.after(harness.stop);
  await harness.grant('proxy', rights);
  return harness;
}

const callerOf = ({ sendAs }: RightsHarness, account: string): ApiCaller => ({
  transport: { send: sendAs(account), close: () => Promise.resolve() },
  userAgent: 'test',
});

type Answering = {
  readonly caller: ApiCaller;
  readonly part: PartName;
  readonly log?: Log;
  readonly answer?: () => Position | Promise<Position>;
};

/** Runs until the test is over, or until it is stopped. */
function answering(t: TestContext, { answer = () => value, ...options }: Answering): () => void {
  const stopping = new AbortController();
  const ended = answerQuestions(
    {
      ...{ clock: systemClock, log: silentLog, ...options },
      handlers: [answerTo(positionQuestion, answer)],
    },
    stopping.signal,
  );
  t.after(async () => {
    stopping.abort();
    await ended;
  });
  return () => stopping.abort();
}

async function question(
  { server }: RightsHarness,
  timeoutMilliseconds = 10_000,
): Promise<NonNullable<NonNullable<Question['status']>['answers']>> {
  const spec = { services: 1, slices: 1 };
  const { status } = await server.api.post<Question>(
    '/apis/parts.fairlead.dev/v1alpha1/questions',
    {
      spec: { question: 'Position', spec, timeoutMilliseconds },
    },
  );
  return status?.answers ?? [];
}

/** Parts connect when they get to it. */
async function questionTo(harness: RightsHarness, count: number, timeoutMs?: number) {
  for (;;) {
    const answers = await question(harness, timeoutMs);
    if (answers.length === count) return answers;
  }
}

test('parts answer a question over the API server', limit, async (t) => {
  const harness = await start(t);
  const caller = callerOf(harness, 'proxy');
  for (const node of ['a', 'b']) answering(t, { caller, part: { kind: 'proxy', node } });
  answering(t, { caller, part: { kind: 'dns', node: 'a' } });
  const answers = await questionTo(harness, 3);
  assert.deepEqual(
    [...answers].sort((a, b) => (a.part < b.part ? -1 : 1)),
    [
      { part: 'dns.a', value },
      { part: 'proxy.a', value },
      { part: 'proxy.b', value },
    ],
  );
});

test('a part that never answers is named, and one that fails says why', limit, async (t) => {
  const harness = await start(t);
  const caller = callerOf(harness, 'proxy');
  const hangs = { answer: () => new Promise<Position>(() => {}) };
  const fails = { answer: () => Promise.reject(new Error('not yet')) };
  answering(t, { caller, part: { kind: 'proxy', node: 'hangs' }, ...hangs });
  answering(t, { caller, part: { kind: 'proxy', node: 'fails' }, ...fails });
  const answers = await questionTo(harness, 2, 100);
  assert.deepEqual(
    [...answers].sort((a, b) => (a.part < b.part ? -1 : 1)),
    [
      { part: 'proxy.fails', error: 'Error: not yet' },
      { part: 'proxy.hangs', error: 'no answer' },
    ],
  );
});

test('a part that ends is not waited for', limit, async (t) => {
  const harness = await start(t);
  const caller = callerOf(harness, 'proxy');
  const hangs = { answer: () => new Promise<Position>(() => {}) };
  const stop = answering(t, { caller, part: { kind: 'proxy', node: 'a' }, ...hangs });
  await questionTo(harness, 1, 50);
  const waiting = question(harness);
  stop();
  assert.deepEqual(await waiting, []);
});

test('without the right, a part neither connects nor answers', limit, async (t) => {
  const harness = await start(t);
  await harness.grant('other', []);
  const answers = await harness.sendAs('other')({
    method: 'POST',
    path: '/apis/parts.fairlead.dev/v1alpha1/parts/proxy.a/answers',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ connection: 'x', items: [] }),
  });
  assert.equal(answers.status, 403);
  const stream = await harness.sendAs('other')({
    method: 'GET',
    path: '/apis/parts.fairlead.dev/v1alpha1/parts/proxy.a/questions',
  });
  assert.equal(stream.status, 403);
});

const badRequests: readonly (readonly [string, string, unknown, number])[] = [
  ['a name that is no part', 'parts/web/answers', { connection: 'x', items: [] }, 400],
  ['an unknown question', 'questions', { spec: { question: 'Weather' } }, 400],
  ['a spec that is not one', 'questions', { spec: { question: 'Position', spec: [] } }, 400],
  ['a subresource that is none', 'parts/proxy.a/secrets', {}, 404],
  ['a name where there is none', 'questions/a', {}, 405],
];

test('the server refuses what is no question and no answer', limit, async (t) => {
  const harness = await start(t);
  for (const [name, path, body, status] of badRequests) {
    const answer = await harness.server.api.send({
      method: 'POST',
      path: `/apis/parts.fairlead.dev/v1alpha1/${path}`,
      body,
    });
    assert.equal(answer.status, status, name);
  }
});

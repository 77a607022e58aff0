import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../observe/metrics.ts';
import type { User } from '../access/user.ts';
import { createFlowMetrics } from '../metrics.ts';
import { parseRequest } from '../request/request-info.ts';
import { createGate, isCostly, isLongRunning } from './gate.ts';
import { defaultLimits } from './limits.ts';

const jane: User = { name: 'jane', groups: ['system:authenticated'] };
const admin: User = { name: 'admin', groups: ['system:masters'] };

function parse(line: string) {
  const [method = '', url = ''] = line.split(' ');
  const [path = '', query = ''] = url.split('?');
  return parseRequest(method, path, new URLSearchParams(query));
}

const pod = '/api/v1/namespaces/a/pods/p';
const cases: readonly (readonly [User, string, boolean, string | undefined])[] = [
  [jane, 'GET /api/v1/pods', false, 'readOnly'],
  [jane, 'GET /api/v1/pods?watch=1', false, 'readOnly'],
  [jane, 'GET /metrics', false, 'readOnly'],
  [jane, 'GET /healthzz', false, 'readOnly'],
  [jane, `DELETE ${pod}`, true, 'mutating'],
  [jane, `POST ${pod}/eviction`, true, 'mutating'],
  [jane, 'GET /healthz', false, undefined],
  [jane, 'GET /readyz/storage', false, undefined],
  [jane, `POST ${pod}/proxy/x`, true, undefined],
  [jane, `GET ${pod}/log`, false, undefined],
  [admin, `DELETE ${pod}`, true, undefined],
];

for (const [user, line, isMutating, wanted] of cases) {
  test(`${line} of ${user.name} takes ${wanted === undefined ? 'no seat' : `a ${wanted} seat`}`, () => {
    const gate = createGate(defaultLimits, createFlowMetrics(createMetrics()));
    assert.equal(gate.seatsFor(user, parse(line), isMutating)?.level, wanted);
  });
}

test('reads and writes have seats of their own', () => {
  const limits = { ...defaultLimits, maxRequestsInFlight: 1, maxMutatingRequestsInFlight: 1 };
  const gate = createGate(limits, createFlowMetrics(createMetrics()));
  const here = () => new AbortController().signal;
  for (const [line, isMutating] of [
    ['GET /api/v1/pods', false],
    [`DELETE ${pod}`, true],
  ] as const) {
    const seats = gate.seatsFor(jane, parse(line), isMutating);
    assert.ok(!(seats?.queue.enter(jane.name, here) instanceof Promise));
  }
});

test('costly requests come one in each turn of the event loop, the users in turn', async () => {
  const gate = createGate(defaultLimits, createFlowMetrics(createMetrics()));
  const here = () => new AbortController().signal;
  const joe: User = { ...jane, name: 'joe' };
  let turn = 0;
  const count = (): void => {
    turn += 1;
    if (done.length < 4) setImmediate(count);
  };
  setImmediate(count);
  const done: { readonly name: string; readonly turn: number }[] = [];
  const work = async ({ name }: User): Promise<void> => {
    await gate.costlyTurn({ ...jane, name }, here);
    done.push({ name, turn });
  };
  await Promise.all([jane, jane, jane, joe].map(work));
  assert.deepEqual(
    done.map(({ name }) => name),
    ['jane', 'jane', 'joe', 'jane'],
  );
  assert.equal(new Set(done.map((one) => one.turn)).size, 4, JSON.stringify(done));
});

test('isCostly() is true of what goes over many objects', () => {
  for (const line of ['GET /api/v1/pods', 'GET /api/v1/pods?watch=1', 'DELETE /api/v1/pods']) {
    assert.ok(isCostly(parse(line)), line);
  }
  for (const line of [`GET ${pod}`, `DELETE ${pod}`, 'GET /metrics']) {
    assert.ok(!isCostly(parse(line)), line);
  }
});

test('isLongRunning() is true of streams', () => {
  for (const line of ['GET /api/v1/pods?watch=1', `GET ${pod}/log`, `GET ${pod}/exec`]) {
    assert.ok(isLongRunning(parse(line)), line);
  }
  for (const line of ['GET /api/v1/pods', 'GET /metrics', `GET ${pod}/status`]) {
    assert.ok(!isLongRunning(parse(line)), line);
  }
});

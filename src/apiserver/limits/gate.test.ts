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

function parse(request: string) {
  const [method = '', url = ''] = request.split(' ');
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

for (const [user, request, isMutating, wanted] of cases) {
  test(`seatsFor() ${request} of ${user.name} needs ${wanted === undefined ? 'no seat' : `a ${wanted} seat`}`, () => {
    const gate = createGate(defaultLimits, createFlowMetrics(createMetrics()));
    assert.equal(gate.seatsFor(user, parse(request), isMutating)?.level, wanted);
  });
}

test('seatsFor() has separate seats for reads and writes', () => {
  const limits = { ...defaultLimits, maxRequestsInFlight: 1, maxMutatingRequestsInFlight: 1 };
  const gate = createGate(limits, createFlowMetrics(createMetrics()));
  const connected = () => new AbortController().signal;
  for (const [request, isMutating] of [
    ['GET /api/v1/pods', false],
    [`DELETE ${pod}`, true],
  ] as const) {
    const seats = gate.seatsFor(jane, parse(request), isMutating);
    assert.ok(!(seats?.queue.acquire(jane.name, connected) instanceof Promise));
  }
});

test('waitForCostlySlot() runs one costly request in each iteration of the event loop, the users in turn', async () => {
  const gate = createGate(defaultLimits, createFlowMetrics(createMetrics()));
  const connected = () => new AbortController().signal;
  const joe: User = { ...jane, name: 'joe' };
  let iteration = 0;
  const count = (): void => {
    iteration += 1;
    if (done.length < 4) setImmediate(count);
  };
  setImmediate(count);
  const done: { readonly name: string; readonly iteration: number }[] = [];
  const work = async ({ name }: User): Promise<void> => {
    await gate.waitForCostlySlot({ ...jane, name }, connected);
    done.push({ name, iteration });
  };
  await Promise.all([jane, jane, jane, joe].map(work));
  assert.deepEqual(
    done.map(({ name }) => name),
    ['jane', 'jane', 'joe', 'jane'],
  );
  assert.equal(new Set(done.map((one) => one.iteration)).size, 4, JSON.stringify(done));
});

test('isCostly() is true for requests over many objects', () => {
  for (const request of ['GET /api/v1/pods', 'GET /api/v1/pods?watch=1', 'DELETE /api/v1/pods']) {
    assert.ok(isCostly(parse(request)), request);
  }
  for (const request of [`GET ${pod}`, `DELETE ${pod}`, 'GET /metrics']) {
    assert.ok(!isCostly(parse(request)), request);
  }
});

test('isLongRunning() is true for streams', () => {
  for (const request of ['GET /api/v1/pods?watch=1', `GET ${pod}/log`, `GET ${pod}/exec`]) {
    assert.ok(isLongRunning(parse(request)), request);
  }
  for (const request of ['GET /api/v1/pods', 'GET /metrics', `GET ${pod}/status`]) {
    assert.ok(!isLongRunning(parse(request)), request);
  }
});

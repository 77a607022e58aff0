import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { Log } from '../observe/log.ts';
import { callApi } from './api-call.ts';
import { missingRight, reportMissingRights } from './missing-rights.ts';

const cases: readonly { name: string; message: string; right?: readonly string[] }[] = [
  {
    name: 'a resource of the core group in the cluster',
    message:
      'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope',
    right: ['u', 'list', 'pods', ''],
  },
  {
    name: 'a subresource of a named group in a namespace',
    message:
      'deployments.apps "d" is forbidden: User "system:serviceaccount:a:b" cannot update resource "deployments/status" in API group "apps" in the namespace "n"',
    right: ['system:serviceaccount:a:b', 'update', 'deployments/status.apps', 'n'],
  },
  {
    name: 'a path',
    message: 'forbidden: User "u" cannot get path "/apis"',
    right: ['u', 'get', '/apis', ''],
  },
  {
    name: 'no right: a refusal by admission',
    message:
      'pods "p" is forbidden: unable to create new content in namespace n because it is being terminated',
  },
];

for (const { name, message, right } of cases) {
  test(`missingRight() reads ${name}`, () => {
    const found = missingRight(message);
    assert.deepEqual(found && Object.values(found), right);
  });
}

test('reportMissingRights() logs a missing permission once and again after ten minutes, and passes the refusal on', async () => {
  const logged: unknown[] = [];
  const quiet = (): void => {};
  const log: Log = {
    ...{ error: quiet, info: quiet, debug: quiet, with: () => log },
    warn: (message: string, fields?: object) => void logged.push({ message, ...fields }),
  };
  const clock = createFakeClock(0);
  const message =
    'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope';
  const status = { kind: 'Status', apiVersion: 'v1', reason: 'Forbidden', message, code: 403 };
  const refusing = {
    send: () =>
      Promise.resolve({
        status: 403,
        headers: {},
        body: (async function* () {
          yield Buffer.from(JSON.stringify(status));
        })(),
      }),
    close: () => Promise.resolve(),
  };
  const caller = { transport: reportMissingRights(refusing, { clock, log }), userAgent: 'test' };
  const ask = () =>
    assert.rejects(callApi(caller, { method: 'GET', path: '/api/v1/nodes' }), { message });
  await ask();
  await ask();
  assert.deepEqual(logged, [
    {
      message: 'Missing permission, retrying',
      ...{ user: 'u', verb: 'list', resource: 'nodes', namespace: '', error: message },
    },
  ]);
  await clock.advance(600_000);
  await ask();
  assert.equal(logged.length, 2);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError, isConflict, isNotFound } from '../meta/api-error.ts';
import {
  configMaps,
  exampleConfigMap,
  failureAnswer,
  jsonAnswer,
  scriptedTransport,
} from './example.ts';
import { resourceClient } from './rest.ts';
import type { TransportResponse } from './transport.ts';

function clientOf(answer: (index: number) => TransportResponse) {
  const transport = scriptedTransport((_request, index) => answer(index));
  const warnings: string[] = [];
  const caller = { transport, userAgent: 'test', warn: (text: string) => void warnings.push(text) };
  return { client: resourceClient(caller, configMaps), transport, warnings };
}

const one = exampleConfigMap('one', { resourceVersion: '7' });

const requests: readonly {
  name: string;
  act: (client: ReturnType<typeof clientOf>['client']) => Promise<unknown>;
  method: string;
  path: string;
  contentType?: string;
  body?: unknown;
}[] = [
  {
    name: 'get',
    act: (c) => c.get({ namespace: 'a', name: 'one' }),
    method: 'GET',
    path: '/api/v1/namespaces/a/configmaps/one',
  },
  {
    name: 'create',
    act: (c) => c.create(one, { fieldManager: 'me', dryRun: true }),
    method: 'POST',
    path: '/api/v1/namespaces/a/configmaps?fieldManager=me&dryRun=All',
    contentType: 'application/json',
    body: one,
  },
  {
    name: 'update of a status',
    act: (c) => c.update(one, { subresource: 'status' }),
    method: 'PUT',
    path: '/api/v1/namespaces/a/configmaps/one/status',
    contentType: 'application/json',
    body: one,
  },
  {
    name: 'apply',
    act: (c) =>
      c.patch(
        { namespace: 'a', name: 'x/y' },
        { a: 1 },
        { type: 'apply', fieldManager: 'me', force: true },
      ),
    method: 'PATCH',
    path: '/api/v1/namespaces/a/configmaps/x%2Fy?fieldManager=me&force=true',
    contentType: 'application/apply-patch+yaml',
    body: { a: 1 },
  },
  {
    name: 'delete',
    act: (c) =>
      c.delete(
        { namespace: 'a', name: 'one' },
        { propagationPolicy: 'Orphan', preconditions: { uid: 'u' } },
      ),
    method: 'DELETE',
    path: '/api/v1/namespaces/a/configmaps/one',
    contentType: 'application/json',
    body: {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: 'Orphan',
      preconditions: { uid: 'u' },
    },
  },
  {
    name: 'deletecollection',
    act: (c) => c.deleteCollection({ namespace: 'a', labelSelector: 'x=y' }),
    method: 'DELETE',
    path: '/api/v1/namespaces/a/configmaps?labelSelector=x%3Dy',
  },
];
for (const { name, act, method, path, contentType, body } of requests) {
  test(`resourceClient() sends a ${name}`, async () => {
    const { client, transport } = clientOf(() => jsonAnswer(one));
    await act(client);
    const [request] = transport.requests;
    assert.equal(request?.method, method);
    assert.equal(request?.path, path);
    assert.equal(request?.headers?.['content-type'], contentType);
    assert.deepEqual(
      request?.body === undefined ? undefined : JSON.parse(String(request.body)),
      body,
    );
  });
}

test('list() reads all pages and gives every item its kind', async () => {
  const { client, transport } = clientOf((index) =>
    index === 0
      ? jsonAnswer({
          metadata: { resourceVersion: '9', continue: 'next' },
          items: [{ metadata: { name: 'x' } }],
        })
      : jsonAnswer({ metadata: { resourceVersion: '9' }, items: [{ metadata: { name: 'y' } }] }),
  );
  assert.deepEqual(await client.list({ pageSize: 1 }), {
    items: ['x', 'y'].map((name) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } })),
    resourceVersion: '9',
  });
  assert.deepEqual(
    transport.requests.map(({ path }) => path),
    ['/api/v1/configmaps?limit=1', '/api/v1/configmaps?limit=1&continue=next'],
  );
});

test('list() lists again without pages when the continue token has expired', async () => {
  const { client, transport } = clientOf((index) => {
    if (index === 0)
      return jsonAnswer({ metadata: { resourceVersion: '1', continue: 'old' }, items: [] });
    if (index === 1) return failureAnswer(410, 'Expired');
    return jsonAnswer({ metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'x' } }] });
  });
  const { items, resourceVersion } = await client.list();
  assert.equal(items.length, 1);
  assert.equal(resourceVersion, '5');
  assert.equal(transport.requests[2]?.path, '/api/v1/configmaps');
});

test('failures are ApiErrors with the reason of the Status', async () => {
  const missing = clientOf(() => failureAnswer(404, 'NotFound')).client;
  await assert.rejects(missing.get({ namespace: 'a', name: 'x' }), isNotFound);
  const stale = clientOf(() => failureAnswer(409, 'Conflict')).client;
  await assert.rejects(stale.update(one), isConflict);
});

test('failures without a Status get the messages of client-go', async () => {
  const plain = clientOf(() => ({ ...jsonAnswer(''), status: 404 })).client;
  await assert.rejects(
    plain.get({ name: 'x' }),
    (error) =>
      isApiError(error) && error.message === 'the server could not find the requested resource',
  );
});

test('callApi() passes warnings to `warn`', async () => {
  const { client, warnings } = clientOf(() => ({
    ...jsonAnswer(one),
    headers: { warning: '299 - "old"' },
  }));
  await client.get({ namespace: 'a', name: 'one' });
  assert.deepEqual(warnings, ['old']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConflict } from '../meta/api-error.ts';
import { applyChanges } from './apply-changes.ts';
import {
  configMaps,
  exampleConfigMap,
  failureAnswer,
  jsonAnswer,
  scriptedTransport,
} from './example.ts';
import { resourceClient } from './rest.ts';

test('applyChanges() creates, updates and deletes in this order, tries all, and throws the first failure', async () => {
  const transport = scriptedTransport(({ method, path }) => {
    if (method === 'PUT') return failureAnswer(409, 'Conflict');
    if (path.endsWith('/gone')) return failureAnswer(404, 'NotFound');
    return jsonAnswer(exampleConfigMap('x'));
  });
  const client = resourceClient({ transport, userAgent: 'test' }, configMaps);
  const changes = {
    create: [exampleConfigMap('new')],
    update: [exampleConfigMap('changed')],
    delete: [exampleConfigMap('gone'), exampleConfigMap('old', { uid: 'u' })],
  };
  await assert.rejects(applyChanges(client, changes, { concurrency: 1 }), isConflict);
  assert.deepEqual(
    transport.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`),
    ['POST configmaps', 'PUT changed', 'DELETE gone', 'DELETE old'],
  );
  assert.deepEqual(JSON.parse(String(transport.requests[3]?.body)).preconditions, { uid: 'u' });
});

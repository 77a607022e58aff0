import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { openMemoryStore } from '../../storage/backends/memory/store.ts';
import { ownAdmission } from '../admission/admission.ts';
import { loadResources } from '../cache/resources.ts';
import { createQuotas } from '../quota/charge.ts';
import { createObject } from './create-object.ts';

/** Creates objects whose made-up names are those given, the last of them for ever. */
async function start(suffixes: readonly string[]) {
  const store = openMemoryStore({ now: () => 0 });
  const resources = await loadResources([configMapDefinition], store);
  let made = 0;
  const randomSuffix = (): string => {
    made += 1;
    return suffixes[Math.min(made, suffixes.length) - 1] ?? '';
  };
  const quotas = createQuotas(() => []);
  const context = {
    ...{ store, resources, quotas, randomSuffix },
    ...{ reserve: new Map(), newUid: () => 'uid' },
  };
  const create = async (metadata: ObjectMeta): Promise<string | undefined> => {
    const cached = await createObject(context, {
      resource: resources.of('configmaps'),
      namespace: 'a',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata },
      write: {
        user: { name: 'test', groups: [] },
        dryRun: false,
        manager: 'test',
        now: '2026-01-01T00:00:00Z',
        admission: ownAdmission,
        warn: () => undefined,
      },
    });
    return cached.object.metadata.name;
  };
  return { create, count: () => made };
}

test('createObject() makes up another name where one is taken (KCT-36)', async () => {
  const { create } = await start(['x', 'x', 'x', 'y']);
  assert.equal(await create({ generateName: 'n-' }), 'n-x');
  assert.equal(await create({ generateName: 'n-' }), 'n-y');
});

const isTaken = (error: unknown): boolean => {
  assert.ok(error instanceof ApiError);
  const { code, reason, message, details } = error.status;
  assert.deepEqual([code, reason, details?.retryAfterSeconds], [409, 'AlreadyExists', 1]);
  assert.equal(
    message,
    'configmaps "n-x" already exists, the server was not able to generate a unique name for the object',
  );
  return true;
};

test('createObject() gives up after eight names (KCT-36)', async () => {
  const { create, count } = await start(['x']);
  await create({ generateName: 'n-' });
  await assert.rejects(create({ generateName: 'n-' }), isTaken);
  assert.equal(count(), 1 + 8);
});

test('createObject() tries a given name once, whatever prefix stands beside it (KCT-36)', async () => {
  const { create, count } = await start(['x']);
  await create({ name: 'n-x' });
  await assert.rejects(create({ name: 'n-x', generateName: 'other-' }), isTaken);
  assert.equal(count(), 0);
});

test('createObject() validates the generation of the client for kinds without one', async () => {
  const { create } = await start(['x']);
  assert.equal(await create({ name: 'a', generation: 5 }), 'a');
  await assert.rejects(create({ name: 'b', generation: -1 }), {
    message:
      'ConfigMap "b" is invalid: metadata.generation: Invalid value: -1: must be greater than or equal to 0',
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice, zoneOf } from '../cluster/example.ts';
import type { Question } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import { name } from '../wire/example.ts';
import { nameText } from '../wire/names.ts';
import { rcodes, types } from '../wire/record-types.ts';
import { createClusterHandler } from './cluster.ts';

test('createClusterHandler() resolves the target of each alias, up to a limit', async () => {
  const lookups: string[] = [];
  const endpoints = Array.from({ length: 40 }, (_, i) => ({ address: `s${i}.example.com` }));
  const handler = createClusterHandler(
    {
      zone: zoneOf(service('a', 'far', { clusterIP: 'None' }), slice('a', 'far', endpoints)),
      cluster: {
        domain: name('c.local'),
        ttl: 30,
        versionTtl: 30,
        pods: 'disabled',
        ignoreEmptyService: false,
        ownAddresses: [],
      },
      isSynced: () => true,
      serial: () => 1,
      cacheResponse: () => {},
    },
    (question) => {
      lookups.push(nameText(question.name));
      return { answer: emptyAnswer(rcodes.NOERROR), by: 'forward' };
    },
  );
  const question: Question = {
    name: name('far.a.svc.c.local'),
    type: types.A,
    class: 1,
    dnssecOk: false,
    checkingDisabled: false,
    client: '127.0.0.1',
    isInternal: false,
  };
  assert.ok(await handler.answer(question));
  assert.deepEqual(
    lookups,
    Array.from({ length: 16 }, (_, i) => `s${i}.example.com.`),
  );
});

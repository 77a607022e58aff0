import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../observe/log.ts';
import { createLimits } from './run-limits.ts';

test('a container that started without limits takes amounts that are none, and no limits', () => {
  const { change } = createLimits({ directory: '/nowhere', log: silentLog })({
    ...{ id: 'one', resources: {}, pod: { uid: 'u', namespace: 'default', name: 'p' } },
  });
  change({ requests: { memory: '1Gi' } });
  assert.throws(() => change({ limits: { memory: '1Gi' } }), /gets them when it starts again/);
});

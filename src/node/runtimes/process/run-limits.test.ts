import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../observe/log.ts';
import { createLimits } from './run-limits.ts';

test('change() of a container without limits accepts requests, and refuses limits', () => {
  const { change } = createLimits({ directory: '/nowhere', log: silentLog })({
    ...{ id: 'one', resources: {}, pod: { uid: 'u', namespace: 'default', name: 'p' } },
  });
  change({ requests: { memory: '1Gi' } });
  assert.throws(() => change({ limits: { memory: '1Gi' } }), /gets them when it starts again/);
});

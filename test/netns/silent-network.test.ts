// The client tells a server that has nothing to say from one that it cannot reach any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInLab } from './lab/enter.ts';

test('silence is no alarm, and a network that swallows packets is one', {
  timeout: 180_000,
}, async () => {
  const { code, stdout, output } = await runInLab('silent-network.js', []);
  assert.equal(code, 0, output);
  assert.deepEqual(stdout.trim().split('\n'), [
    'http2: a silent server is no dead one',
    'http2: a network that swallows packets is noticed',
    'http2: a connection that is forgotten on its way is noticed',
    'http1: a silent server is no dead one',
    'http1: a network that swallows packets is noticed',
  ]);
});

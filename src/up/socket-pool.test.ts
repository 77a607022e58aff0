import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SocketRequest } from './lan-messages.ts';
import { createSocketPool } from './socket-pool.ts';

const requestTo = (host: string): SocketRequest => ({
  kind: 'connect',
  namespacePath: '/n',
  endpoint: { host, port: 80 },
});

test('createSocketPool() opens the first socket immediately and refills itself', () => {
  const refills: number[] = [];
  let next = 100;
  const pool = createSocketPool({
    open: () => next++,
    refill: (_, count) => void refills.push(count),
  });
  assert.equal(pool.take(requestTo('10.0.0.1')), 100);
  assert.deepEqual(refills, [16]);
  // It does not request a refill twice.
  assert.equal(pool.take(requestTo('10.0.0.2')), 101);
  assert.deepEqual(refills, [16]);
  pool.add(requestTo('10.0.0.1'), [1, 2]);
  assert.equal(pool.take(requestTo('10.0.0.3')), 2);
  assert.deepEqual(refills, [16, 15]);
  // The other family has sockets of its own.
  assert.equal(pool.take(requestTo('fd00::1')), 102);
  assert.deepEqual(pool.drain(), [1]);
});

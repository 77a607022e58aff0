import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SocketRequest } from './lan-messages.ts';
import { createSocketPool } from './socket-pool.ts';

const wish = (host: string): SocketRequest => ({
  kind: 'connect',
  namespacePath: '/n',
  endpoint: { host, port: 80 },
});

test('createSocketPool() makes the first at once, and has the next ready', () => {
  const orders: number[] = [];
  let made = 100;
  const stock = createSocketPool({
    makeNow: () => made++,
    order: (_, count) => void orders.push(count),
  });
  assert.equal(stock.take(wish('10.0.0.1')), 100);
  assert.deepEqual(orders, [16]);
  // Nothing is ordered twice.
  assert.equal(stock.take(wish('10.0.0.2')), 101);
  assert.deepEqual(orders, [16]);
  stock.add(wish('10.0.0.1'), [1, 2]);
  assert.equal(stock.take(wish('10.0.0.3')), 2);
  assert.deepEqual(orders, [16, 15]);
  // Another family is another shelf.
  assert.equal(stock.take(wish('fd00::1')), 102);
  assert.deepEqual(stock.empty(), [1]);
});

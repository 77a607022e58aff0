import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressGroup, createConnectionTable, type Seat } from './connection-table.ts';

function setUp(maxConnections: number, maxConnectionsPerUser = 0) {
  const closed: string[] = [];
  const reasons: string[] = [];
  const table = createConnectionTable({
    ...{ maxConnections, maxConnectionsPerUser },
    evicted: (reason) => void reasons.push(reason),
  });
  const open = (name: string, address = '192.0.2.1', isIdle = true): Seat =>
    table.admit({ address, close: () => void closed.push(name), isIdle: () => isIdle });
  return { table, open, closed, reasons };
}

test('one address cannot take the places of strangers: its own oldest goes', () => {
  const { open, closed, reasons } = setUp(16);
  open('other', '192.0.2.9');
  for (const name of ['a', 'b', 'c', 'd']) open(name);
  assert.deepEqual(closed, ['a', 'b']);
  assert.deepEqual(reasons, ['address', 'address']);
});

test('many addresses cannot either: the oldest of the one that has most goes', () => {
  const { open, closed } = setUp(16);
  open('a1', '192.0.2.1');
  open('b1', '192.0.2.2');
  open('a2', '192.0.2.1');
  open('c1', '192.0.2.3');
  open('d1', '192.0.2.4');
  assert.deepEqual(closed, ['a1']);
});

test('strangers never cost a user a connection, nor the other way round', () => {
  const { table, open, closed } = setUp(16);
  const jane = Array.from({ length: 12 }, (_, n) => {
    const seat = open(`jane-${n}`);
    table.identify(seat, 'jane', false);
    return seat;
  });
  for (let n = 0; n < 1000; n += 1) open(`stranger-${n}`, `192.0.2.${n % 200}`);
  assert.deepEqual(
    closed.filter((name) => name.startsWith('jane')),
    [],
  );
  assert.deepEqual(table.counts(), { unauthenticated: 4, users: jane.length });
});

test('users share their places: who has most gives one up, idle ones first', () => {
  const { table, open, closed, reasons } = setUp(4);
  for (const name of ['busy', 'idle']) {
    table.identify(open(name, '192.0.2.1', name === 'idle'), 'jane', false);
  }
  table.identify(open('john'), 'john', false);
  table.identify(open('new'), 'john', false);
  assert.deepEqual(closed, ['idle']);
  assert.deepEqual(reasons, ['total']);
});

test('a user has a limit; administrators have none and lose none', () => {
  const { table, open, closed } = setUp(0, 2);
  for (const name of ['a', 'b', 'c']) table.identify(open(name), 'jane', false);
  for (const name of ['x', 'y', 'z']) table.identify(open(name), 'admin', true);
  assert.deepEqual(closed, ['a']);
});

test('what has left is not counted, and is told once who it is', () => {
  const { table, open, closed } = setUp(16);
  const seat = open('a');
  table.leave(seat);
  table.leave(seat);
  table.identify(seat, 'jane', false);
  assert.deepEqual(table.counts(), { unauthenticated: 0, users: 0 });
  const other = open('b');
  table.identify(other, 'jane', false);
  table.identify(other, 'jane', false);
  assert.deepEqual(table.counts(), { unauthenticated: 0, users: 1 });
  assert.deepEqual(closed, []);
});

test('IPv6 addresses count by their network', () => {
  const cases = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '::ffff:192.0.2.1',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8:1:2::6': '2001:db8:1:2',
    '2001:db8::6': '2001:db8:0:0',
    '::1': '0:0:0:0',
  };
  for (const [address, group] of Object.entries(cases)) assert.equal(addressGroup(address), group);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressGroup, createConnectionTable, type TableEntry } from './connection-table.ts';

function setUp(maxConnections: number, maxConnectionsPerUser = 0) {
  const closed: string[] = [];
  const reasons: string[] = [];
  const table = createConnectionTable({
    ...{ maxConnections, maxConnectionsPerUser },
    evicted: (reason) => void reasons.push(reason),
  });
  const open = (name: string, address = '192.0.2.1', isIdle = true): TableEntry =>
    table.admit({ address, close: () => void closed.push(name), isIdle: () => isIdle });
  return { table, open, closed, reasons };
}

test('admit() evicts the oldest connection of an address at its limit', () => {
  const { open, closed, reasons } = setUp(16);
  open('other', '192.0.2.9');
  for (const name of ['a', 'b', 'c', 'd']) open(name);
  assert.deepEqual(closed, ['a', 'b']);
  assert.deepEqual(reasons, ['address', 'address']);
});

test('admit() evicts from the address with the most connections at the limit of unauthenticated ones', () => {
  const { open, closed } = setUp(16);
  open('a1', '192.0.2.1');
  open('b1', '192.0.2.2');
  open('a2', '192.0.2.1');
  open('c1', '192.0.2.3');
  open('d1', '192.0.2.4');
  assert.deepEqual(closed, ['a1']);
});

test('admit() does not evict the connections of users for unauthenticated ones', () => {
  const { table, open, closed } = setUp(16);
  const jane = Array.from({ length: 12 }, (_, n) => {
    const entry = open(`jane-${n}`);
    table.identify(entry, 'jane', false);
    return entry;
  });
  for (let n = 0; n < 1000; n += 1) open(`anonymous-${n}`, `192.0.2.${n % 200}`);
  assert.deepEqual(
    closed.filter((name) => name.startsWith('jane')),
    [],
  );
  assert.deepEqual(table.counts(), { unauthenticated: 4, users: jane.length });
});

test('identify() evicts an idle connection of the user with the most, at the limit of all users', () => {
  const { table, open, closed, reasons } = setUp(4);
  for (const name of ['busy', 'idle']) {
    table.identify(open(name, '192.0.2.1', name === 'idle'), 'jane', false);
  }
  table.identify(open('john'), 'john', false);
  table.identify(open('new'), 'john', false);
  assert.deepEqual(closed, ['idle']);
  assert.deepEqual(reasons, ['total']);
});

test('identify() limits the connections of a user, but not of administrators', () => {
  const { table, open, closed } = setUp(0, 2);
  for (const name of ['a', 'b', 'c']) table.identify(open(name), 'jane', false);
  for (const name of ['x', 'y', 'z']) table.identify(open(name), 'admin', true);
  assert.deepEqual(closed, ['a']);
});

test('remove() and identify() have an effect once', () => {
  const { table, open, closed } = setUp(16);
  const entry = open('a');
  table.remove(entry);
  table.remove(entry);
  table.identify(entry, 'jane', false);
  assert.deepEqual(table.counts(), { unauthenticated: 0, users: 0 });
  const other = open('b');
  table.identify(other, 'jane', false);
  table.identify(other, 'jane', false);
  assert.deepEqual(table.counts(), { unauthenticated: 0, users: 1 });
  assert.deepEqual(closed, []);
});

test('addressGroup() is the /64 of an IPv6 address', () => {
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

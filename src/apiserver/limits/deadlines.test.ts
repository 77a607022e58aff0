import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createDeadlines } from './deadlines.ts';

/** In small steps: the mocked clock jumps to the end before it runs expired timers. */
function advance(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1) mock.timers.tick(1);
}

test('createDeadlines() expires an entry once, after its time', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const expired: string[] = [];
  const deadlines = createDeadlines<string>({
    afterMs: 1000,
    expire: (name) => expired.push(name),
  });
  deadlines.add('first');
  const removed = deadlines.add('removed');
  advance(500);
  deadlines.add('second');
  assert.ok(removed);
  deadlines.remove(removed);
  deadlines.remove(removed);
  advance(499);
  assert.deepEqual(expired, []);
  advance(101);
  assert.deepEqual(expired, ['first']);
  advance(399);
  assert.deepEqual(expired, ['first']);
  advance(10_000);
  assert.deepEqual(expired, ['first', 'second']);
});

test('createDeadlines() gives entries after a pause their full time', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const expired: string[] = [];
  const deadlines = createDeadlines<string>({
    afterMs: 1000,
    expire: (name) => expired.push(name),
  });
  deadlines.add('a');
  advance(5000);
  deadlines.add('b');
  advance(999);
  assert.deepEqual(expired, ['a']);
  advance(101);
  assert.deepEqual(expired, ['a', 'b']);
});

test('createDeadlines() has no limit when the time is 0', () => {
  const deadlines = createDeadlines<string>({ afterMs: 0, expire: () => assert.fail() });
  assert.equal(deadlines.add('a'), undefined);
});

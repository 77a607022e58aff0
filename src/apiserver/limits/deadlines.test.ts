import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createDeadlines } from './deadlines.ts';

/** In small steps: the mocked clock jumps to the end before it runs what is due. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1) mock.timers.tick(1);
}

test('an entry ends after its time, not before, and only once', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const ended: string[] = [];
  const deadlines = createDeadlines<string>({ afterMs: 1000, expire: (name) => ended.push(name) });
  deadlines.add('first');
  const quick = deadlines.add('quick');
  pass(500);
  deadlines.add('second');
  assert.ok(quick);
  deadlines.leave(quick);
  deadlines.leave(quick);
  pass(499);
  assert.deepEqual(ended, []);
  pass(101);
  assert.deepEqual(ended, ['first']);
  pass(399);
  assert.deepEqual(ended, ['first']);
  pass(10_000);
  assert.deepEqual(ended, ['first', 'second']);
});

test('entries after a pause have their full time', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const ended: string[] = [];
  const deadlines = createDeadlines<string>({ afterMs: 1000, expire: (name) => ended.push(name) });
  deadlines.add('a');
  pass(5000);
  deadlines.add('b');
  pass(999);
  assert.deepEqual(ended, ['a']);
  pass(101);
  assert.deepEqual(ended, ['a', 'b']);
});

test('no time means no end', () => {
  const deadlines = createDeadlines<string>({ afterMs: 0, expire: () => assert.fail() });
  assert.equal(deadlines.add('a'), undefined);
});

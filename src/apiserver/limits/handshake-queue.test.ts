import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createHandshakeQueue } from './handshake-queue.ts';

test('one piece of work is done in each turn, in order, also what came meanwhile', async () => {
  const turns = createHandshakeQueue();
  const done: string[] = [];
  turns(() => {
    done.push('a');
    turns(() => done.push('c'));
  });
  turns(() => done.push('b'));
  for (const expected of ['a', 'ab', 'abc', 'abc']) {
    await turn();
    assert.equal(done.join(''), expected);
  }
  turns(() => done.push('d'));
  await turn();
  assert.equal(done.join(''), 'abcd');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseControllers } from './choose.ts';
import type { Controller } from './controller.ts';

const rest = { account: '', watches: [], rights: [], run: () => Promise.resolve() };
const all: readonly Controller[] = [
  { name: 'endpoints-controller', shortName: 'endpoint', ...rest },
  { name: 'endpointslice-controller', shortName: 'endpointslice', ...rest },
  { name: 'scheduler', ...rest },
];

const cases: readonly { words?: readonly string[]; chosen: readonly number[] }[] = [
  { chosen: [0, 1, 2] },
  { words: ['*'], chosen: [0, 1, 2] },
  { words: [], chosen: [] },
  { words: ['*', '-scheduler'], chosen: [0, 1] },
  { words: ['-scheduler', '*'], chosen: [0, 1] },
  { words: ['scheduler'], chosen: [2] },
  { words: ['endpointslice', 'scheduler'], chosen: [1, 2] },
  { words: ['*', '-endpoint'], chosen: [1, 2] },
  { words: ['scheduler', '-scheduler'], chosen: [2] },
];

for (const { words, chosen } of cases) {
  test(`chooseControllers() for ${words === undefined ? 'nothing' : `"${words.join()}"`}`, () => {
    const wanted = { controllers: chosen.map((at) => all[at]) };
    assert.deepEqual(chooseControllers(all, words), wanted);
  });
}

test('chooseControllers() returns unknown names', () => {
  assert.deepEqual(chooseControllers(all, ['*', '-cron', 'job']), { unknown: ['-cron', 'job'] });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDetachedFrom, parseTerminal, type Terminal } from './end-requests.ts';

const attached: Terminal = { isAttached: true, isInBackground: false, isInputUnreadable: false };
const none: Terminal = { isAttached: false, isInBackground: false, isInputUnreadable: false };

const terminals: readonly (readonly [string, Terminal, boolean])[] = [
  ['in the foreground of a terminal', attached, false],
  [
    'in the background of a terminal that it writes to',
    { ...attached, isInBackground: true },
    false,
  ],
  ['without a terminal', none, false],
  ['in the background, connected elsewhere', { ...none, isInBackground: true }, true],
  ['in the foreground, behind nohup', { ...none, isInputUnreadable: true }, true],
  ['behind nohup with an error output', { ...attached, isInputUnreadable: true }, false],
];

for (const [name, terminal, expected] of terminals) {
  test(`isDetachedFrom() of a process ${name} is ${expected}`, () => {
    assert.equal(isDetachedFrom(terminal), expected);
  });
}

const read = 'pos:\t0\nflags:\t0100000\nmnt_id:\t25\n';
const unreadable = 'pos:\t0\nflags:\t0100001\nmnt_id:\t25\n';
const stats: readonly (readonly [string, string, string, readonly [boolean, boolean]])[] = [
  ['in the foreground', '7 (node) S 6 7 5 34816 7 4194560', read, [false, false]],
  ['in the background', '7 (node) S 6 7 5 34816 5 4194560', read, [true, false]],
  ['without a terminal', '7 (node) S 6 7 7 0 -1 4194560', read, [false, false]],
  ['with a strange name', '7 (a) b (c) S 6 7 5 34816 5 4194560', read, [true, false]],
  ['behind nohup', '7 (node) S 6 7 5 34816 7 4194560', unreadable, [false, true]],
];

for (const [name, stat, input, [isInBackground, isInputUnreadable]] of stats) {
  test(`parseTerminal() of a process ${name}`, () => {
    assert.deepEqual(parseTerminal(stat, input), { isInBackground, isInputUnreadable });
  });
}

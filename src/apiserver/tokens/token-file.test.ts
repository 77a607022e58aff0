import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { User } from '../access/user.ts';
import { readTokenFile, tokenLine } from './token-file.ts';

const userOf = (text: string, token: string): User | undefined => {
  const read = readTokenFile(text);
  assert.ok('list' in read, JSON.stringify(read));
  return read.list.userOf(token);
};

const users: readonly (readonly [string, string, User | undefined])[] = [
  ['t,alice,7,"dev,ops"', 't', { name: 'alice', uid: '7', groups: ['dev', 'ops'] }],
  ['t,alice,7,dev', 't', { name: 'alice', uid: '7', groups: ['dev'] }],
  ['t,alice,', 't', { name: 'alice', groups: [] }],
  ['t,alice,7,', 't', { name: 'alice', uid: '7', groups: [] }],
  ['a,x,1\nb,y,2', 'b', { name: 'y', uid: '2', groups: [] }],
  ['t,alice,7', 'T', undefined],
  ['t,alice,7', '', undefined],
  ['', 't', undefined],
];

for (const [text, token, expected] of users) {
  test(`readTokenFile() finds ${expected?.name ?? 'no user'} for ${JSON.stringify(token)} in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(userOf(text, token), expected);
  });
}

test('readTokenFile() tells all lines that are wrong, and no token', () => {
  const text = 'secret,alice\n,bob,1\nsecret2,,1\nsecret3,carol,1\nsecret3,dave,2\n';
  assert.deepEqual(readTokenFile(text), {
    problems: [
      'line 1: must have at least 3 columns (token, user name, user uid), found 2',
      'line 2: the token is empty',
      'line 3: the user name is empty',
      'line 5: the token is in the file already',
    ],
  });
});

test('tokenLine() writes what readTokenFile() reads', () => {
  for (const user of [
    { name: 'a', groups: [] },
    { name: 'a "b"', uid: '1,2', groups: ['x', 'system:nodes'] },
  ]) {
    const line = tokenLine('t', user);
    assert.ok(line.endsWith('\n'));
    assert.deepEqual(userOf(line, 't'), user);
  }
});

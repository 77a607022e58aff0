import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KeyringEntry, lookUpLogins } from './keyring.ts';

const entry = (pattern: string): KeyringEntry => ({
  pattern,
  login: { kind: 'password', username: pattern, password: 'x' },
});

const cases = [
  { pattern: 'registry.example', image: 'registry.example/a', is: true },
  { pattern: 'registry.example', image: 'registry.example:5000/a', is: false },
  { pattern: 'registry.example:5000', image: 'registry.example:5000/a', is: true },
  { pattern: 'registry.example:5000', image: 'registry.example/a', is: false },
  { pattern: '*.example', image: 'registry.example/a', is: true },
  { pattern: '*.example', image: 'a.registry.example/a', is: false },
  { pattern: '*.*.example', image: 'a.registry.example/a', is: true },
  { pattern: 'reg?stry*.example', image: 'registry-2.example/a', is: true },
  { pattern: 'registry.example/team', image: 'registry.example/team/app', is: true },
  { pattern: 'registry.example/team', image: 'registry.example/other/app', is: false },
  { pattern: 'https://registry.example/v2/', image: 'registry.example/a', is: true },
  { pattern: 'https://index.docker.io/v1/', image: 'docker.io/library/nginx', is: true },
  { pattern: 'docker.io', image: 'docker.io/library/nginx', is: true },
  { pattern: 'docker.io/library', image: 'docker.io/team/nginx', is: false },
  { pattern: '[::1]:5000', image: '[::1]:5000/a', is: true },
  { pattern: '*', image: 'localhost/a', is: true },
  { pattern: '', image: 'registry.example/a', is: false },
  { pattern: `${'*a'.repeat(2000)}`, image: `${'a'.repeat(200)}/a`, is: false },
];

describe('lookUpLogins()', () => {
  for (const { pattern, image, is } of cases) {
    it(`${is ? 'finds' : 'does not find'} ${pattern.slice(0, 40)} for ${image.slice(0, 40)}`, () =>
      assert.equal(lookUpLogins([entry(pattern)], image).length, is ? 1 : 0));
  }

  it('tries the longest path first', () => {
    const keyring = ['r.example', 'r.example/team/app', 'r.example/team'].map(entry);
    const found = lookUpLogins(keyring, 'r.example/team/app');
    assert.deepEqual(
      found.map((login) => login.kind === 'password' && login.username),
      ['r.example/team/app', 'r.example/team', 'r.example'],
    );
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeconfigError } from './kubeconfig-error.ts';
import { parseUser } from './kubeconfig-user.ts';

const exec = {
  ...{ apiVersion: 'client.authentication.k8s.io/v1', command: 'login', interactiveMode: 'Never' },
};

test('parseUser() reads a user name with its password', () => {
  assert.deepEqual(parseUser({ username: 'me', password: 'p:w' }, 'u'), {
    basicAuth: { username: 'me', password: 'p:w' },
  });
});

test('parseUser() reads a plugin with all its fields', () => {
  const full = {
    ...{ ...exec, args: ['get', 'token'], env: [{ name: 'A', value: 'b' }, { name: 'C' }] },
    ...{ provideClusterInfo: true, installHint: 'Install it.' },
  };
  assert.deepEqual(parseUser({ exec: full }, 'u').exec, {
    ...{ ...exec, args: ['get', 'token'], env: { A: 'b', C: '' } },
    ...{ provideClusterInfo: true, installHint: 'Install it.' },
  });
});

test('parseUser() reads whom it impersonates', () => {
  const user = {
    ...{ as: 'jane', 'as-uid': '1', 'as-groups': ['dev'] },
    'as-user-extra': { 'example.com/team': ['a', 'b'] },
  };
  assert.deepEqual(parseUser(user, 'u').impersonation, {
    ...{ user: 'jane', uid: '1', groups: ['dev'] },
    extra: { 'example.com/team': ['a', 'b'] },
  });
});

test('parseUser() ignores what is empty', () => {
  const empty = {
    ...{ token: '', username: '', exec: null, 'auth-provider': null },
    ...{ as: '', 'as-groups': [], 'as-user-extra': null },
  };
  assert.deepEqual(parseUser(empty, 'u'), {});
});

const refused: readonly (readonly [string, Parameters<typeof parseUser>[0], RegExp])[] = [
  [
    'an auth-provider',
    { 'auth-provider': { name: 'oidc' } },
    /the auth-provider "oidc", which Kubernetes removed in 1\.26; want an exec plugin$/,
  ],
  ['a nameless auth-provider', { 'auth-provider': {} }, /it has an auth-provider/],
  ['a token beside a password', { token: 't', username: 'me' }, /want one of them/],
  ['a user name with a colon', { username: 'a:b' }, /has a colon/],
  ['an exec that is no map', { exec: 'login' }, /must be a map/],
  ['no command', { exec: { ...exec, command: '' } }, /no command/],
  [
    'v1alpha1',
    { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } },
    /want one of client\.authentication\.k8s\.io\/v1, /,
  ],
  ['v1 without a mode', { exec: { ...exec, interactiveMode: undefined } }, /interactiveMode/],
  ['an unknown mode', { exec: { ...exec, interactiveMode: 'Sometimes' } }, /interactiveMode/],
  ['args that are no list', { exec: { ...exec, args: 'x' } }, /args/],
  ['a number among args', { exec: { ...exec, args: [1] } }, /args/],
  ['env without a name', { exec: { ...exec, env: [{ value: 'x' }] } }, /env/],
  ['groups without a user', { 'as-groups': ['dev'] }, /without a user/],
  ['extra values without a user', { 'as-user-extra': { a: ['b'] } }, /without a user/],
  ['groups that are no list', { as: 'a', 'as-groups': 'dev' }, /as-groups/],
  ['extra values that are no lists', { as: 'a', 'as-user-extra': { a: 'b' } }, /as-user-extra/],
];
for (const [what, user, why] of refused) {
  test(`parseUser() refuses ${what}, and names the user`, () => {
    assert.throws(
      () => parseUser(user, 'jane'),
      (error) =>
        error instanceof KubeconfigError && why.test(error.message) && /"jane"/.test(error.message),
    );
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { ApiRequest } from '../message.ts';
import { createAuthorizer } from './authorize.ts';
import {
  ask,
  exampleBinding,
  exampleClusterRole,
  exampleReader,
  exampleUser,
  toUser,
} from './example.ts';
import { impersonate } from './impersonate.ts';
import type { User } from './user.ts';

const on = (verbs: string, group: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
});

const authentication = 'authentication.k8s.io';
const grants: Readonly<Record<string, readonly PolicyRule[]>> = {
  old: [
    on('impersonate', '', 'users', 'bob system:node:a'),
    on('impersonate', '', 'groups', 'team'),
    on('impersonate', authentication, 'userextras/scopes', 'view'),
    on('impersonate', authentication, 'uids', 'id-1'),
  ],
  accounts: [on('impersonate', '', 'serviceaccounts')],
  narrow: [
    on('impersonate:user-info', authentication, 'users groups'),
    on('impersonate-on:user-info:list', '', 'pods'),
  ],
};

const authorizer = createAuthorizer(
  exampleReader(
    Object.entries(grants).flatMap(([user, rules]) => [
      exampleClusterRole(user, rules),
      exampleBinding({ name: user, role: `ClusterRole/${user}`, subjects: [toUser(user)] }),
    ]),
  ),
);

const admin = exampleUser('kubernetes-admin', 'system:masters', 'system:authenticated');
const signedIn = 'system:authenticated';

const cases: readonly {
  readonly title: string;
  readonly user?: User;
  readonly request?: string;
  readonly headers: ApiRequest['headers'];
  readonly becomes?: User;
  readonly refused?: { readonly code: number; readonly message: string };
}[] = [
  { title: 'is the user himself without headers', headers: { accept: '*/*' }, becomes: admin },
  {
    title: 'is a user',
    headers: { 'impersonate-user': 'bob' },
    becomes: exampleUser('bob', signedIn),
  },
  {
    title: 'is a user with groups, uid and extra values',
    headers: {
      'impersonate-user': 'bob',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '7',
      'impersonate-extra-acme.com%2fproject': ['x', 'y'],
    },
    becomes: {
      name: 'bob',
      uid: '7',
      groups: ['a', 'b', signedIn],
      extra: { 'acme.com/project': ['x', 'y'] },
    },
  },
  {
    title: 'is a member of the administrators, by the old way alone',
    headers: { 'impersonate-user': 'any', 'impersonate-group': 'system:masters' },
    becomes: exampleUser('any', 'system:masters', signedIn),
  },
  {
    title: 'is the anonymous user',
    headers: { 'impersonate-user': 'system:anonymous' },
    becomes: exampleUser('system:anonymous', 'system:unauthenticated'),
  },
  {
    title: 'is not authenticated when a group says so',
    headers: { 'impersonate-user': 'x', 'impersonate-group': 'system:unauthenticated' },
    becomes: exampleUser('x', 'system:unauthenticated'),
  },
  {
    title: 'is a service account with its groups',
    headers: { 'impersonate-user': 'system:serviceaccount:ns:sa' },
    becomes: exampleUser(
      'system:serviceaccount:ns:sa',
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      signedIn,
    ),
  },
  {
    title: 'is a service account with other groups',
    headers: { 'impersonate-user': 'system:serviceaccount:ns:sa', 'impersonate-group': 'g' },
    becomes: exampleUser('system:serviceaccount:ns:sa', 'g', signedIn),
  },
  {
    title: 'is a node with its group',
    headers: { 'impersonate-user': 'system:node:a' },
    becomes: exampleUser('system:node:a', 'system:nodes', signedIn),
  },
  {
    title: 'is a node without its group, by the old way',
    user: exampleUser('old'),
    headers: { 'impersonate-user': 'system:node:a' },
    becomes: exampleUser('system:node:a', signedIn),
  },
  {
    title: 'is whom he may be by the old way, whatever he does',
    user: exampleUser('old'),
    request: 'delete nodes x',
    headers: {
      'impersonate-user': 'bob',
      'impersonate-group': 'team',
      'impersonate-extra-scopes': 'view',
      'impersonate-uid': 'id-1',
    },
    becomes: { name: 'bob', uid: 'id-1', groups: ['team', signedIn], extra: { scopes: ['view'] } },
  },
  {
    title: 'is an account by the old way',
    user: exampleUser('accounts'),
    headers: { 'impersonate-user': 'system:serviceaccount:ns:sa' },
    becomes: exampleUser(
      'system:serviceaccount:ns:sa',
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      signedIn,
    ),
  },
  {
    title: 'is whom he may be for this action',
    user: exampleUser('narrow'),
    headers: { 'impersonate-user': 'anybody', 'impersonate-group': 'g' },
    becomes: exampleUser('anybody', 'g', signedIn),
  },
  {
    title: 'is refused another action',
    user: exampleUser('narrow'),
    request: 'delete pods x in ns',
    headers: { 'impersonate-user': 'anybody' },
    refused: {
      code: 403,
      message:
        'pods "x" is forbidden: User "narrow" cannot impersonate-on:user-info:delete resource "pods" in API group "" in the namespace "ns"',
    },
  },
  {
    title: 'is refused the administrators for this action',
    user: exampleUser('narrow'),
    headers: { 'impersonate-user': 'anybody', 'impersonate-group': 'system:masters' },
    refused: {
      code: 403,
      message:
        'groups.authentication.k8s.io "system:masters" is forbidden: User "narrow" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
    },
  },
  {
    title: 'is refused to one without rights, for the first reason found',
    user: exampleUser('eve'),
    headers: { 'impersonate-user': 'bob' },
    refused: {
      code: 403,
      message:
        'pods is forbidden: User "eve" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "ns"',
    },
  },
  {
    title: 'is refused a node with groups by the old way alone',
    user: exampleUser('eve'),
    headers: { 'impersonate-user': 'system:node:a', 'impersonate-group': 'g' },
    refused: {
      code: 403,
      message:
        'users "system:node:a" is forbidden: User "eve" cannot impersonate resource "users" in API group "" at the cluster scope',
    },
  },
  {
    title: 'needs a user',
    headers: { 'impersonate-group': ['a', 'b'], 'impersonate-extra-k': 'v' },
    refused: {
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string{"k":[]string{"v"}}} without impersonating a user name',
    },
  },
];

for (const {
  title,
  user = admin,
  request = 'list pods in ns',
  headers,
  becomes,
  refused,
} of cases) {
  test(`impersonate() ${title}`, () => {
    const apiRequest: ApiRequest = {
      method: 'GET',
      path: '/',
      query: new URLSearchParams(),
      headers,
      body: () => Promise.resolve(new Uint8Array()),
      peer: {},
      signal: () => new AbortController().signal,
    };
    const run = (): User =>
      impersonate({ request: apiRequest, user, attributes: ask(request), authorizer });
    if (refused === undefined) return assert.deepEqual(run(), becomes);
    assert.throws(run, (error) => {
      assert.ok(isApiError(error));
      assert.deepEqual({ code: error.status.code, message: error.message }, refused);
      return true;
    });
  });
}

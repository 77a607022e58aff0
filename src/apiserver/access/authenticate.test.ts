import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import type { ApiRequest, Peer } from '../message.ts';
import type { User } from '../user.ts';
import { createAuthenticator } from './authenticate.ts';

const request = (peer: Peer, headers: ApiRequest['headers'] = {}): ApiRequest => ({
  method: 'GET',
  path: '/api',
  query: new URLSearchParams(),
  headers,
  body: () => Promise.resolve(new Uint8Array()),
  peer,
  signal: () => new AbortController().signal,
});

const authenticator = createAuthenticator([
  (token) => (token === 'expired' ? { error: 'token has expired' } : undefined),
  (token) => (token === 'good' ? { user: { name: 't', uid: '1', groups: ['g'] } } : undefined),
]);

const certificate = { commonName: 'u', organizations: ['a', 'b'] };
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const byCertificate: User = { name: 'u', groups: ['a', 'b', 'system:authenticated'] };
const byToken: User = { name: 't', uid: '1', groups: ['g', 'system:authenticated'] };

const cases: readonly {
  readonly title: string;
  readonly peer?: Peer;
  readonly authorization?: string;
  /** Absent: 401. */
  readonly user?: User;
}[] = [
  { title: 'takes nobody for anonymous', user: anonymous },
  { title: 'takes the names of a certificate', peer: { certificate }, user: byCertificate },
  {
    title: 'tells by which certificate a user came',
    peer: { certificate: { ...certificate, fingerprint: '0a' } },
    user: {
      ...byCertificate,
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=0a'] },
    },
  },
  {
    title: 'takes no user from a certificate without a name',
    peer: { certificate: { ...certificate, commonName: '' } },
    user: anonymous,
  },
  {
    title: 'takes a part of the program for what it says',
    peer: { local: { user: 'system:kube-proxy', groups: [] } },
    user: { name: 'system:kube-proxy', groups: ['system:authenticated'] },
  },
  {
    title: 'adds no group to a user that has one of the two',
    peer: { local: { user: 'x', groups: ['system:unauthenticated'] } },
    user: { name: 'x', groups: ['system:unauthenticated'] },
  },
  { title: 'takes a known token', authorization: 'bearer good', user: byToken },
  { title: 'refuses an unknown token', authorization: 'Bearer bad' },
  { title: 'refuses an expired token', authorization: 'Bearer expired' },
  {
    title: 'prefers a certificate to a bad token',
    peer: { certificate },
    authorization: 'Bearer bad',
    user: byCertificate,
  },
  { title: 'ignores other schemes', authorization: 'Basic dTpw', user: anonymous },
  { title: 'ignores an empty token', authorization: 'Bearer ', user: anonymous },
];

for (const { title, peer = {}, authorization, user } of cases) {
  test(`authenticate() ${title}`, () => {
    const asked = request(peer, authorization === undefined ? {} : { authorization });
    if (user !== undefined) assert.deepEqual(authenticator.authenticate(asked), user);
    else
      assert.throws(
        () => authenticator.authenticate(asked),
        (error) =>
          isApiError(error) && error.status.code === 401 && error.message === 'Unauthorized',
      );
  });
}

test('authenticateToken() puts its user among the authenticated', () => {
  assert.deepEqual(authenticator.authenticateToken('good', []), { user: byToken });
});

test('authenticateToken() tells what is wrong with a token', () => {
  assert.deepEqual(authenticator.authenticateToken('expired', []), {
    error: '[invalid bearer token, token has expired]',
  });
  assert.deepEqual(authenticator.authenticateToken('bad', []), { error: 'invalid bearer token' });
  assert.deepEqual(createAuthenticator().authenticateToken('good', []), {
    error: 'invalid bearer token',
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import type { ApiRequest, Peer } from '../message.ts';
import { createAuthenticator } from './authenticate.ts';
import type { User } from './user.ts';

const request = (peer: Peer, headers: ApiRequest['headers'] = {}): ApiRequest => ({
  method: 'GET',
  path: '/api',
  query: new URLSearchParams(),
  headers,
  body: () => Promise.resolve(new Uint8Array()),
  peer,
  signal: () => new AbortController().signal,
});

let now = 15_000;
const authenticator = createAuthenticator({
  tokens: [
    (token) => (token === 'expired' ? { error: 'token has expired' } : undefined),
    (token) => (token === 'good' ? { user: { name: 't', uid: '1', groups: ['g'] } } : undefined),
  ],
  now: () => now,
});

const certificate = {
  commonName: 'u',
  organizations: ['a', 'b'],
  fingerprint: '0a',
  notBeforeMs: 10_000,
  notAfterMs: 20_000,
};
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const byCertificate: User = {
  name: 'u',
  groups: ['a', 'b', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=0a'] },
};
const byToken: User = { name: 't', uid: '1', groups: ['g', 'system:authenticated'] };

const cases: readonly {
  readonly title: string;
  readonly peer?: Peer;
  readonly authorization?: string;
  /** Absent: 401. */
  readonly user?: User;
}[] = [
  { title: 'is anonymous without credentials', user: anonymous },
  { title: 'reads user and groups from a certificate', peer: { certificate }, user: byCertificate },
  {
    title: 'refuses an expired certificate',
    peer: { certificate: { ...certificate, notAfterMs: 14_000 } },
  },
  {
    title: 'refuses a certificate that is not valid yet',
    peer: { certificate: { ...certificate, notBeforeMs: 16_000 } },
  },
  {
    title: 'accepts a valid token beside an expired certificate',
    peer: { certificate: { ...certificate, notAfterMs: 14_000 } },
    authorization: 'Bearer good',
    user: byToken,
  },
  { title: 'refuses a certificate of another authority', peer: { untrustedCertificate: true } },
  {
    title: 'trusts the identity of a part in the same process',
    peer: { local: { user: 'system:kube-proxy', groups: [] } },
    user: { name: 'system:kube-proxy', groups: ['system:authenticated'] },
  },
  {
    title: 'adds no group to a user with system:authenticated or system:unauthenticated',
    peer: { local: { user: 'x', groups: ['system:unauthenticated'] } },
    user: { name: 'x', groups: ['system:unauthenticated'] },
  },
  { title: 'accepts a known token', authorization: 'bearer good', user: byToken },
  { title: 'refuses an unknown token', authorization: 'Bearer bad' },
  { title: 'refuses an expired token', authorization: 'Bearer expired' },
  {
    title: 'prefers a valid certificate to an invalid token',
    peer: { certificate },
    authorization: 'Bearer bad',
    user: byCertificate,
  },
  { title: 'ignores other schemes', authorization: 'Basic dTpw', user: anonymous },
  { title: 'ignores an empty token', authorization: 'Bearer ', user: anonymous },
];

for (const { title, peer = {}, authorization, user } of cases) {
  test(`authenticate() ${title}`, () => {
    const sent = request(peer, authorization === undefined ? {} : { authorization });
    if (user !== undefined) assert.deepEqual(authenticator.authenticate(sent), user);
    else
      assert.throws(
        () => authenticator.authenticate(sent),
        (error) =>
          isApiError(error) && error.status.code === 401 && error.message === 'Unauthorized',
      );
  });
}

test('authenticate() refuses a certificate that expires while its connection is open', (t) => {
  t.after(() => {
    now = 15_000;
  });
  const sent = request({ certificate });
  assert.deepEqual(authenticator.authenticate(sent), byCertificate);
  now = 30_000;
  assert.throws(() => authenticator.authenticate(sent), isApiError);
  now = 15_000;
  assert.deepEqual(authenticator.authenticate(sent), byCertificate);
});

test('authenticateToken() adds the group system:authenticated', () => {
  assert.deepEqual(authenticator.authenticateToken('good', []), { user: byToken });
});

test('authenticateToken() reports why a token is invalid', () => {
  assert.deepEqual(authenticator.authenticateToken('expired', []), {
    error: '[invalid bearer token, token has expired]',
  });
  assert.deepEqual(authenticator.authenticateToken('bad', []), { error: 'invalid bearer token' });
  assert.deepEqual(createAuthenticator({ now: () => now }).authenticateToken('good', []), {
    error: 'invalid bearer token',
  });
});

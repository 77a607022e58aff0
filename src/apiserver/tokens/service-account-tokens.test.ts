import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { KubeObject } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import { exampleReader } from '../access/example.ts';
import { signJwt } from './jwt.ts';
import { answerOpenId } from './openid.ts';
import {
  createTokenAuthenticator,
  createTokenIssuer,
  type TokenSpec,
} from './service-account-tokens.ts';
import { makeSigningKey } from './signing-key.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const hour = 3600;
const key = makeSigningKey();
const issuer = createTokenIssuer({ issuer: 'https://i', audiences: ['api', 'b'], key });

const object = (kind: string, metadata: KubeObject['metadata']): KubeObject => ({
  kind,
  apiVersion: 'v1',
  metadata,
});
const account = (more: KubeObject['metadata'] = {}): KubeObject =>
  object('ServiceAccount', { name: 'sa', namespace: 'ns', uid: 'u1', ...more });
const secret = (more: KubeObject['metadata'] = {}): KubeObject =>
  object('Secret', { name: 's', namespace: 'ns', uid: 'u2', ...more });
const pod = (more: KubeObject['metadata'] = {}): KubeObject =>
  examplePod({ metadata: { name: 'p', namespace: 'ns', uid: 'u3', ...more } });
const node = (more: KubeObject['metadata'] = {}): KubeObject =>
  object('Node', { name: 'n', uid: 'u4', ...more });

const spec: TokenSpec = {
  namespace: 'ns',
  serviceAccount: { name: 'sa', uid: 'u1' },
  audiences: ['api'],
  expirationSeconds: hour,
};
const secretBound = { ...spec, secret: { name: 's', uid: 'u2' } };
const podBound = { ...spec, pod: { name: 'p', uid: 'u3' }, node: { name: 'n', uid: 'u4' } };
const nodeBound = { ...spec, node: { name: 'n', uid: 'u4' } };
const everything = [account(), secret(), pod(), node()];
const deleted = (secondsAgo: number): KubeObject['metadata'] => ({
  deletionTimestamp: formatTime(start - secondsAgo * 1000),
});

type Case = {
  readonly title: string;
  readonly spec?: TokenSpec;
  readonly objects?: readonly KubeObject[];
  readonly audiences?: readonly string[];
  readonly afterSeconds?: number;
  /** Absent: the token is good. */
  readonly error?: string;
};

const cases: readonly Case[] = [
  { title: 'takes a token of an account that exists' },
  { title: 'takes a token that has just expired', afterSeconds: hour + 60 },
  {
    title: 'refuses a token that has expired',
    afterSeconds: hour + 61,
    error: 'service account token has expired',
  },
  {
    title: 'refuses a token from the future',
    afterSeconds: -61,
    error: 'service account token is not valid yet',
  },
  { title: 'takes a token for who asks', audiences: ['x', 'api'] },
  {
    title: 'refuses a token for another audience',
    audiences: ['x'],
    error: 'token audiences ["api"] is invalid for the target audiences ["x"]',
  },
  {
    title: 'refuses a token that is not for the server',
    spec: { ...spec, audiences: ['vault'] },
    error: 'token audiences ["vault"] is invalid for the target audiences ["api" "b"]',
  },
  {
    title: 'refuses a token of an account that is gone',
    objects: [],
    error: 'serviceaccounts "sa" not found',
  },
  {
    title: 'refuses a token of an account before this one',
    objects: [account({ uid: 'u9' })],
    error: 'service account UID (u9) does not match claim (u1)',
  },
  {
    title: 'refuses a token of an account that should be gone',
    objects: [account(deleted(61))],
    error: 'service account ns/sa has been deleted',
  },
  { title: 'takes a token of an account that is going', objects: [account(deleted(60))] },
  { title: 'takes a token bound to a secret', spec: secretBound },
  {
    title: 'refuses a token whose secret is gone',
    spec: secretBound,
    objects: [account()],
    error: 'service account token has been invalidated',
  },
  {
    title: 'refuses a token of a secret before this one',
    spec: secretBound,
    objects: [account(), secret({ uid: 'u9' })],
    error: 'secret UID (u9) does not match service account secret ref claim (u2)',
  },
  { title: 'takes a token bound to a pod', spec: podBound },
  {
    title: 'takes a token of a pod whose node is gone',
    spec: podBound,
    objects: [account(), pod()],
  },
  {
    title: 'refuses a token whose pod is gone',
    spec: podBound,
    objects: [account(), node()],
    error: 'service account token has been invalidated',
  },
  {
    title: 'refuses a token whose pod should be gone',
    spec: podBound,
    objects: [account(), pod(deleted(61))],
    error: 'service account token has been invalidated',
  },
  { title: 'takes a token bound to a node', spec: nodeBound },
  {
    title: 'refuses a token whose node is gone',
    spec: nodeBound,
    objects: [account()],
    error: 'service account token has been invalidated',
  },
];

for (const {
  title,
  objects = everything,
  audiences = [],
  afterSeconds = 0,
  error,
  ...one
} of cases) {
  test(`createTokenAuthenticator() ${title}`, () => {
    const reader = exampleReader(objects);
    const now = (): number => start + afterSeconds * 1000;
    const authenticate = createTokenAuthenticator({ issuer, reader, now });
    const token = issuer.issue(one.spec ?? spec, start);
    // The second time the signature is known already; everything else is looked at again.
    for (const _time of [1, 2]) {
      const proof = authenticate(token, audiences);
      if (error === undefined) assert.ok(proof && 'user' in proof, JSON.stringify(proof));
      else {
        // What fails by time or audience fails on every server.
        const isStored = !/not valid yet|expired|audiences/.test(error);
        assert.deepEqual(proof, isStored ? { error, isSignedHere: true } : { error });
      }
    }
  });
}

test('createTokenAuthenticator() says who it is and by which credential', () => {
  const now = (): number => start;
  const reader = exampleReader(everything);
  const authenticate = createTokenAuthenticator({ issuer, reader, now });
  const proof = authenticate(issuer.issue(podBound, start), ['b', 'api']);
  assert.ok(proof && 'user' in proof);
  const { extra = {}, ...user } = proof.user;
  const { 'authentication.kubernetes.io/credential-id': credential, ...rest } = extra;
  assert.match(credential?.[0] ?? '', /^JTI=[0-9a-f-]{36}$/);
  assert.deepEqual(proof.audiences, ['api']);
  assert.deepEqual(user, {
    name: 'system:serviceaccount:ns:sa',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
  });
  assert.deepEqual(rest, {
    'authentication.kubernetes.io/node-name': ['n'],
    'authentication.kubernetes.io/node-uid': ['u4'],
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': ['u3'],
  });
});

test('createTokenAuthenticator() leaves to others what is not of this issuer', () => {
  const reader = exampleReader(everything);
  const authenticate = createTokenAuthenticator({ issuer, reader, now: () => start });
  const otherIssuer = createTokenIssuer({ issuer: 'https://j', audiences: ['api'], key });
  const others = [
    '',
    'x',
    'a.b.c',
    otherIssuer.issue(spec, start),
    signJwt(key, { iss: 'https://i' }),
    signJwt(key, { iss: 'https://i', aud: 'api', exp: 1, iat: 1, nbf: 1, jti: 'x', sub: 'y' }),
  ];
  for (const token of others) assert.equal(authenticate(token, []), undefined, token);
});

test('createTokenAuthenticator() refuses a good issuer under another key', () => {
  const reader = exampleReader(everything);
  const authenticate = createTokenAuthenticator({ issuer, reader, now: () => start });
  const forger = createTokenIssuer({ ...issuer, key: makeSigningKey() });
  const proof = authenticate(forger.issue(spec, start), []);
  assert.deepEqual(proof, { error: 'go-jose/go-jose: error in cryptographic primitive' });
});

test('createTokenAuthenticator() takes tokens of all keys, and issue() signs with the first', () => {
  const reader = exampleReader(everything);
  const before = issuer.issue(spec, start);
  const fresh = makeSigningKey();
  const rotated = createTokenIssuer({ ...issuer, key: fresh, keys: [fresh, key] });
  const authenticate = createTokenAuthenticator({ issuer: rotated, reader, now: () => start });
  for (const token of [before, rotated.issue(spec, start)]) {
    const proof = authenticate(token, []);
    assert.ok(proof !== undefined && 'user' in proof, JSON.stringify(proof));
  }
  const alone = createTokenIssuer({ ...issuer, key: fresh, keys: [fresh] });
  const strict = createTokenAuthenticator({ issuer: alone, reader, now: () => start });
  assert.ok('error' in (strict(before, []) ?? {}), 'the old key was left out');
  const { body } = answerOpenId(rotated, '/openid/v1/jwks', 'h:1') ?? {};
  const { keys } = JSON.parse(String(body)) as {
    readonly keys: readonly { readonly kid: string }[];
  };
  assert.deepEqual(
    keys.map(({ kid }) => kid),
    [fresh.id, key.id],
  );
});

test('issue() writes the claims that Kubernetes writes', () => {
  const [, body = ''] = issuer.issue(podBound, start).split('.');
  const { jti, ...claims } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
    jti: string;
  };
  assert.match(jti, /^[0-9a-f-]{36}$/);
  assert.deepEqual(claims, {
    aud: ['api'],
    exp: start / 1000 + hour,
    iat: start / 1000,
    iss: 'https://i',
    'kubernetes.io': {
      namespace: 'ns',
      node: { name: 'n', uid: 'u4' },
      pod: { name: 'p', uid: 'u3' },
      serviceaccount: { name: 'sa', uid: 'u1' },
    },
    nbf: start / 1000,
    sub: 'system:serviceaccount:ns:sa',
  });
});

test('answerOpenId() publishes the issuer and the key, never the private one', () => {
  const text = (path: string): unknown =>
    JSON.parse(String(answerOpenId(issuer, path, 'h:1')?.body ?? 'null'));
  assert.deepEqual(text('/.well-known/openid-configuration'), {
    issuer: 'https://i',
    jwks_uri: 'https://h:1/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  const { keys } = text('/openid/v1/jwks') as { keys: readonly Record<string, string>[] };
  assert.deepEqual(Object.keys(keys[0] ?? {}).sort(), [
    'alg',
    'crv',
    'kid',
    'kty',
    'use',
    'x',
    'y',
  ]);
  assert.deepEqual(text('/openid/v1/jwks/'), text('/openid/v1/jwks'));
  assert.equal(answerOpenId(issuer, '/openid/v2', 'h:1'), undefined);
});

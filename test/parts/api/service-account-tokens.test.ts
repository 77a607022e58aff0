// Tokens of service accounts, from the request to their end, against the whole API server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type Answer, type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 30_000;
const core = '/api/v1/namespaces/default';
const accounts = `${core}/serviceaccounts`;
const start = Date.parse('2026-01-01T00:00:00Z');

let now = start;
let running: MemoryServer;
let anonymous: ApiClient;
before(
  async () => {
    running = await startMemoryServer({ clock: { now: () => now } });
    const { address } = running.server;
    const ca = testCredentials().authority.certificate;
    anonymous = await openApiClient({ port: address.port, ca });
  },
  { timeout },
);
after(
  async () => {
    anonymous.close();
    await running.stop();
  },
  { timeout },
);

type TokenRequest = KubeObject & {
  readonly spec: { readonly audiences: readonly string[]; readonly expirationSeconds: number };
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
};
type UserInfo = {
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};
type TokenReview = {
  readonly status: {
    readonly authenticated?: boolean;
    readonly user: UserInfo;
    readonly audiences?: readonly string[];
    readonly error?: string;
  };
};

const make = (path: string, name: string, more: object = {}): Promise<KubeObject> =>
  running.api.post(path, { metadata: { name }, ...more });

async function tokenOf(account: string, spec: object = {}): Promise<string> {
  const { status } = await running.api.post<TokenRequest>(`${accounts}/${account}/token`, { spec });
  return status.token;
}

const refusal = (account: string, body: object, api = running.api): Promise<Answer<Status>> =>
  api.send({ method: 'POST', path: `${accounts}/${account}/token`, body });

async function review(
  token: string,
  audiences?: readonly string[],
): Promise<TokenReview['status']> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { status } = await running.api.post<TokenReview>(path, { spec: { token, audiences } });
  return status;
}

const whoAmI = (token: string): Promise<Answer<{ status: { userInfo: UserInfo } }>> =>
  anonymous.send({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { authorization: `Bearer ${token}` },
    body: {},
  });

const issuer = 'https://kubernetes.default.svc.cluster.local';

test('a token is answered with what the server filled in', { timeout }, async () => {
  await make(accounts, 'plain');
  const { metadata, spec, status } = await running.api.post<TokenRequest>(
    `${accounts}/plain/token`,
    {},
  );
  assert.deepEqual(metadata, {
    name: 'plain',
    namespace: 'default',
    creationTimestamp: '2026-01-01T00:00:00Z',
  });
  assert.deepEqual(spec, { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null });
  assert.equal(status.expirationTimestamp, '2026-01-01T01:00:00Z');
  const { body } = await whoAmI(status.token);
  assert.equal(body.status.userInfo.username, 'system:serviceaccount:default:plain');
  assert.deepEqual(body.status.userInfo.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
});

test('a token review tells whose token it is and for whom it is good', { timeout }, async () => {
  await make(accounts, 'reviewed');
  const token = await tokenOf('reviewed', { audiences: ['vault', 'other'] });
  const { authenticated, user, audiences } = await review(token, ['vault', 'x']);
  assert.equal(authenticated, true);
  assert.equal(user.username, 'system:serviceaccount:default:reviewed');
  assert.deepEqual(audiences, ['vault']);
  assert.deepEqual(await review(token), {
    user: {},
    error: `[invalid bearer token, token audiences ["vault" "other"] is invalid for the target audiences ["${issuer}"]]`,
  });
  assert.equal((await whoAmI(token)).status, 401);
});

test('a token ends with its time', { timeout }, async () => {
  await make(accounts, 'expiring');
  const token = await tokenOf('expiring', { expirationSeconds: 600 });
  assert.equal((await whoAmI(token)).status, 201);
  now = start + 661_000;
  assert.equal((await whoAmI(token)).status, 401);
  assert.equal(
    (await review(token)).error,
    '[invalid bearer token, service account token has expired]',
  );
  now = start;
});

test('a token ends with its account, also when the name comes back', { timeout }, async () => {
  await make(accounts, 'leaving');
  const token = await tokenOf('leaving');
  await running.api.delete(`${accounts}/leaving`);
  assert.equal((await whoAmI(token)).status, 401);
  await make(accounts, 'leaving');
  assert.equal((await whoAmI(token)).status, 401);
});

test('a token ends with the secret it is bound to', { timeout }, async () => {
  await make(accounts, 'bound');
  await make(`${core}/secrets`, 'tie');
  const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: 'tie' };
  const token = await tokenOf('bound', { boundObjectRef });
  assert.equal((await whoAmI(token)).status, 201);
  await running.api.delete(`${core}/secrets/tie`);
  assert.equal(
    (await review(token)).error,
    '[invalid bearer token, service account token has been invalidated]',
  );
});

const container = { name: 'c', image: 'i' };

test('a token ends with the pod it is bound to, and names it', { timeout }, async () => {
  await make(accounts, 'podded');
  await make('/api/v1/nodes', 'n1');
  const pod = await make(`${core}/pods`, 'runner', {
    spec: { serviceAccountName: 'podded', nodeName: 'n1', containers: [container] },
  });
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'runner', uid: pod.metadata.uid };
  const token = await tokenOf('podded', { boundObjectRef });
  const { extra = {} } = (await whoAmI(token)).body.status.userInfo;
  assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['runner']);
  assert.deepEqual(extra['authentication.kubernetes.io/pod-uid'], [pod.metadata.uid]);
  assert.deepEqual(extra['authentication.kubernetes.io/node-name'], ['n1']);
  await running.api.delete(`${core}/pods/runner?gracePeriodSeconds=0`);
  assert.equal((await whoAmI(token)).status, 401);
});

test('a token request that cannot be met is refused in upstream words', { timeout }, async () => {
  await make(accounts, 'requested');
  const secret = await make(`${core}/secrets`, 'kept');
  await make(`${core}/pods`, 'foreign', { spec: { containers: [container] } });
  const ref = (kind: string, name: string, more: object = {}): object => ({
    spec: { boundObjectRef: { kind, apiVersion: 'v1', name, ...more } },
  });
  const kind = 'TokenRequest.authentication.k8s.io';
  const cases: readonly (readonly [object, number, string])[] = [
    [
      { spec: { expirationSeconds: 599 } },
      422,
      `${kind} "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
    ],
    [
      { spec: { expirationSeconds: 2 ** 32 + 1 } },
      422,
      `${kind} "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
    ],
    [
      { metadata: { name: 'x' } },
      422,
      `${kind} "requested" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified`,
    ],
    [
      { metadata: { namespace: 'x' } },
      422,
      `${kind} "requested" is invalid: metadata.namespace: Invalid value: "x": must match the service account namespace if specified`,
    ],
    [ref('Secret', 'gone'), 404, 'secrets "gone" not found'],
    [ref('Pod', 'gone'), 404, 'pods "gone" not found'],
    [ref('Node', 'gone'), 404, 'nodes "gone" not found'],
    [
      ref('Secret', 'kept', { uid: 'x' }),
      409,
      'Operation cannot be fulfilled on Secret "kept": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      ref('Pod', 'foreign'),
      400,
      'cannot bind token for serviceaccount "requested" to pod running with different serviceaccount name.',
    ],
    [ref('Service', 'web'), 400, 'cannot bind token to object of type /v1, Kind=Service'],
    [
      { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'x/v2', name: 'kept' } } },
      400,
      'cannot bind token to object of type x/v2, Kind=Secret',
    ],
  ];
  for (const [body, code, message] of cases) {
    const answer = await refusal('requested', body);
    assert.deepEqual([answer.status, answer.body.message], [code, message]);
  }
  const answer = await refusal('missing', {});
  assert.deepEqual(
    [answer.status, answer.body.message],
    [404, 'serviceaccounts "missing" not found'],
  );
  assert.equal((await refusal('requested', { metadata: { uid: 'x' } })).status, 409);
  assert.equal(
    (await refusal('requested', ref('Secret', 'kept', { uid: secret.metadata.uid }))).status,
    201,
  );
});

async function nodeClient(node: string): Promise<ApiClient> {
  const { authority } = testCredentials();
  const { certificate: cert, privateKey: key } = issueClientCertificate(authority, {
    commonName: `system:node:${node}`,
    organizations: ['system:nodes'],
    // This test sets the clock of the server.
    days: 36_500,
    now: 0,
  });
  const { port } = running.server.address;
  return await openApiClient({ port, ca: authority.certificate, cert, key });
}

test('a node gets tokens for its own pods only', { timeout }, async (t) => {
  await make(accounts, 'worker');
  const pod = await make(`${core}/pods`, 'on-n7', {
    spec: {
      serviceAccountName: 'worker',
      nodeName: 'n7',
      containers: [container],
      volumes: [
        { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
    },
  });
  const { uid } = pod.metadata;
  const body = { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'on-n7', uid } } };
  const own = await nodeClient('n7');
  t.after(own.close);
  const strange = await nodeClient('n8');
  t.after(strange.close);
  assert.equal((await refusal('worker', body, own)).status, 201);
  assert.equal((await refusal('worker', {}, own)).status, 403);
  assert.equal((await refusal('requested', body, own)).status, 403);
  assert.equal((await refusal('worker', body, strange)).status, 403);
});

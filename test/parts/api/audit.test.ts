// The audit log of the whole server: real requests in, lines out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAuditPolicy } from '../../../src/apiserver/audit/policy.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { openApiClient } from '../harness/api-client.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 30_000;

type Line = {
  readonly stage: string;
  readonly level: string;
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username?: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly sourceIPs: readonly string[];
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code: number; readonly reason?: string };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly annotations: Readonly<Record<string, string>>;
};

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - {level: None, userGroups: [system:masters], verbs: [get], nonResourceURLs: ["/readyz*"]}
  - {level: Metadata, resources: [{resources: [secrets]}]}
  - {level: RequestResponse, verbs: [create], resources: [{resources: [configmaps]}]}
  - {level: Metadata}
`;

type Audited = {
  readonly api: ApiClient;
  readonly anonymous: ApiClient;
  readonly lines: Line[];
  readonly stop: () => Promise<void>;
};

async function startAudited(): Promise<Audited> {
  const lines: Line[] = [];
  const running = await startMemoryServer({
    access: {
      audit: {
        policy: parseAuditPolicy(policy, 'policy'),
        log: {
          write: (line) => lines.push(JSON.parse(line) as Line),
          close: () => Promise.resolve(),
        },
      },
    },
  });
  const { port } = running.server.address;
  const ca = testCredentials().authority.certificate;
  const anonymous = await openApiClient({ port, ca });
  const stop = async (): Promise<void> => {
    anonymous.close();
    await running.stop();
  };
  return { api: running.api, anonymous, lines, stop };
}

test('requests leave lines as the policy wants them', { timeout }, async (t) => {
  const { api, anonymous, lines, stop } = await startAudited();
  t.after(stop);
  const of = '/api/v1/namespaces/default';
  await api.send({ method: 'GET', path: '/readyz' });
  assert.equal(lines.length, 0);

  const { headers } = await api.send({
    method: 'POST',
    path: `${of}/configmaps`,
    body: { metadata: { name: 'c' }, data: { a: 'b' } },
  });
  const [created] = lines.splice(0);
  assert.equal(created?.auditID, headers['audit-id']);
  assert.equal(created?.stage, 'ResponseComplete');
  assert.deepEqual(created?.requestObject, { metadata: { name: 'c' }, data: { a: 'b' } });
  const { metadata, data } = (created?.responseObject ?? {}) as {
    metadata: Readonly<Record<string, unknown>>;
    data: unknown;
  };
  assert.deepEqual(data, { a: 'b' });
  assert.equal(metadata.managedFields, undefined);
  assert.notEqual(metadata.uid, undefined);
  assert.deepEqual(created?.objectRef, {
    resource: 'configmaps',
    namespace: 'default',
    name: 'c',
    apiVersion: 'v1',
  });
  assert.equal(created?.responseStatus?.code, 201);
  assert.equal(created?.annotations['authorization.k8s.io/decision'], 'allow');

  await api.post(`${of}/secrets`, { metadata: { name: 's' }, stringData: { a: 'hidden' } });
  const [secret] = lines.splice(0);
  assert.equal(secret?.objectRef?.name, 's');
  assert.ok(!JSON.stringify(secret).includes('hidden'));

  await anonymous.send({ method: 'GET', path: `${of}/secrets/s` });
  const [refused] = lines.splice(0);
  assert.equal(refused?.user.username, 'system:anonymous');
  assert.equal(refused?.responseStatus?.reason, 'Forbidden');
  assert.equal(refused?.annotations['authorization.k8s.io/decision'], 'forbid');
  assert.equal(refused?.sourceIPs.length, 1);

  const bad = { authorization: 'Bearer nonsense' };
  await anonymous.send({ method: 'GET', path: `${of}/secrets`, headers: bad });
  const [unknown] = lines.splice(0);
  assert.deepEqual(unknown?.user, {});
  assert.equal(unknown?.responseStatus?.code, 401);

  const acting = { 'impersonate-user': 'jane' };
  await api.send({ method: 'GET', path: `${of}/pods`, headers: acting });
  const [impersonated] = lines.splice(0);
  assert.equal(impersonated?.impersonatedUser?.username, 'jane');
  assert.equal(impersonated?.responseStatus?.code, 403);
});

test('of a watch the start and the end are written down', { timeout }, async (t) => {
  const { api, lines, stop } = await startAudited();
  t.after(stop);
  const watch = await api.watch('/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1');
  await watch.ended;
  assert.deepEqual(
    lines.map(({ stage, verb }) => [stage, verb]),
    [
      ['ResponseStarted', 'watch'],
      ['ResponseComplete', 'watch'],
    ],
  );
});

test('a trace goes on in the answer and in the log', { timeout }, async (t) => {
  const { api, lines, stop } = await startAudited();
  t.after(stop);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const path = '/api/v1/namespaces/default/pods/none';
  const { headers } = await api.send({ method: 'GET', path, headers: { traceparent } });
  assert.match(String(headers.traceparent), new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  assert.equal(lines[0]?.annotations['fairlead.dev/trace-id'], traceId);
  const plain = await api.send({ method: 'GET', path });
  assert.equal(plain.headers.traceparent, undefined);
  assert.equal(
    lines[1]?.annotations['fairlead.dev/trace-id'],
    String(plain.headers['audit-id']).replaceAll('-', ''),
  );
});

test('the log quotes no value of a Secret, whatever is wrong with a request', {
  timeout,
}, async (t) => {
  const { api, lines, stop } = await startAudited();
  t.after(stop);
  const value = Buffer.from('open sesame').toString('base64');
  const path = '/api/v1/namespaces/default/secrets';
  await api.post(path, { metadata: { name: 'vault' }, data: { key: value } });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const wrong = await api.send({
    ...{ method: 'PATCH', path: `${path}/vault`, headers: merge },
    body: { data: { other: 5 } },
  });
  // Who may patch sees the object anyway.
  assert.equal(wrong.status, 422);
  assert.ok(wrong.body.message?.includes(value));
  const posted = await api.send({
    ...{ method: 'POST', path, body: { metadata: { name: 'x' }, data: { key: `!${value}` } } },
  });
  assert.equal(posted.status, 400);
  const events = lines.filter(({ objectRef }) => objectRef?.resource === 'secrets');
  assert.deepEqual(
    events.map(({ responseStatus }) => responseStatus?.code),
    [201, 422, 400],
  );
  assert.ok(!JSON.stringify(events).includes(value));
});

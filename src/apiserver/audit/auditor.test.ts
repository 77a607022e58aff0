// The auditor between a request and its log lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createMetrics } from '../../observe/metrics.ts';
import type { ApiRequest, ApiResponse } from '../message.ts';
import { parseRequest } from '../request/request-info.ts';
import { createAuditor } from './auditor.ts';
import { parseAuditPolicy } from './policy.ts';

type Line = Readonly<Record<string, unknown>>;

const jane = { name: 'jane', uid: '1', groups: ['dev'] };
const secret = { metadata: { name: 's', managedFields: [{ manager: 'm' }] }, data: { a: 'eA==' } };

function start(rules: string) {
  const lines: Line[] = [];
  const registry = createMetrics();
  const auditor = createAuditor({
    policy: parseAuditPolicy(`{apiVersion: audit.k8s.io/v1, kind: Policy, ${rules}}`, 'p'),
    log: {
      write: (line) => lines.push(JSON.parse(line) as Line),
      close: () => Promise.resolve(),
    },
    metrics: registry,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  });
  const begin = (
    attributes: Partial<ApiRequest> & { readonly method: string; readonly path: string },
  ) => {
    const request: ApiRequest = {
      query: new URLSearchParams(),
      headers: {},
      body: () => Promise.resolve(new Uint8Array()),
      peer: { address: '10.0.0.1' },
      signal: () => new AbortController().signal,
      ...attributes,
    };
    const info = parseRequest(request.method, request.path, request.query);
    return auditor.begin({ request, info, user: jane, auditId: 'id', traceId: 'trace' });
  };
  return { begin, lines, text: registry.text };
}

const answer = (status: number, body: unknown): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});

test('an event says who did what, from where, and what became of it', () => {
  const { begin, lines } = start('rules: [{level: Metadata}]');
  const audited = begin({
    method: 'GET',
    path: '/apis/apps/v1/namespaces/a/deployments/web/status',
    rawQuery: 'pretty=1',
    headers: { 'user-agent': 'kubectl', 'x-forwarded-for': '192.0.2.7, x', 'x-real-ip': '::1' },
  });
  audited?.actsAs({ name: 'joe', groups: [] });
  audited?.decided({ allowed: true, reason: 'RBAC: allowed' });
  audited?.answered({ response: answer(200, {}) });
  const known = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'id',
    requestURI: '/apis/apps/v1/namespaces/a/deployments/web/status?pretty=1',
    verb: 'get',
    user: { username: 'jane', uid: '1', groups: ['dev'] },
    sourceIPs: ['192.0.2.7', '::1', '10.0.0.1'],
    userAgent: 'kubectl',
    objectRef: {
      resource: 'deployments',
      namespace: 'a',
      name: 'web',
      apiGroup: 'apps',
      apiVersion: 'v1',
      subresource: 'status',
    },
    requestReceivedTimestamp: '2026-01-02T03:04:05.006000Z',
    stageTimestamp: '2026-01-02T03:04:05.006000Z',
  };
  assert.deepEqual(lines, [
    { ...known, stage: 'RequestReceived', annotations: { 'fairlead.dev/trace-id': 'trace' } },
    {
      ...known,
      stage: 'ResponseComplete',
      impersonatedUser: { username: 'joe' },
      responseStatus: { metadata: {}, code: 200 },
      annotations: {
        'fairlead.dev/trace-id': 'trace',
        'authorization.k8s.io/decision': 'allow',
        'authorization.k8s.io/reason': 'RBAC: allowed',
      },
    },
  ]);
});

/** The objects that the events of one create of a secret show. */
async function shown(rule: string, response = answer(201, secret)) {
  const { begin, lines } = start(`omitStages: [RequestReceived], rules: [${rule}]`);
  const body = Buffer.from(JSON.stringify(secret));
  const path = '/api/v1/namespaces/a/secrets';
  const audited = begin({ method: 'POST', path, body: () => Promise.resolve(body) });
  await audited?.request.body();
  audited?.answered({ response });
  const [{ requestObject, responseObject, objectRef } = {} as Line] = lines;
  return { requestObject, responseObject, name: (objectRef as { name?: string })?.name };
}

test('the level says how much is shown', async () => {
  const plain = { ...secret, metadata: { name: 's' } };
  const none = { requestObject: undefined, responseObject: undefined };
  assert.deepEqual(await shown('{level: Metadata}'), { ...none, name: 's' });
  assert.deepEqual(await shown('{level: Request}'), { ...none, requestObject: secret, name: 's' });
  assert.deepEqual(await shown('{level: RequestResponse}'), {
    requestObject: secret,
    responseObject: secret,
    name: 's',
  });
  assert.deepEqual(await shown('{level: RequestResponse, omitManagedFields: true}'), {
    requestObject: plain,
    responseObject: plain,
    name: 's',
  });
});

test('answers are shown as the objects they are, whatever their form', async () => {
  const zipped: ApiResponse = {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify({ items: [secret] })),
  };
  const rule = '{level: RequestResponse, omitManagedFields: true}';
  assert.deepEqual((await shown(rule, zipped)).responseObject, {
    items: [{ ...secret, metadata: { name: 's' } }],
  });
  const yaml = { status: 200, headers: { 'content-type': 'application/yaml' }, body: 'a: b\n' };
  assert.deepEqual((await shown(rule, yaml)).responseObject, { a: 'b' });
  const contentType = 'application/vnd.kubernetes.protobuf';
  const binary = { status: 200, headers: { 'content-type': contentType }, body: 'k8s' };
  assert.deepEqual((await shown(rule, binary)).responseObject, {
    kind: 'Unknown',
    raw: Buffer.from('k8s').toString('base64'),
    contentType,
  });
});

test('what the policy does not want is not even begun', () => {
  const { begin, lines, text } = start('rules: [{level: None, verbs: [get]}]');
  assert.equal(begin({ method: 'GET', path: '/api/v1/nodes/n' }), undefined);
  assert.deepEqual(lines, []);
  assert.match(text(), /apiserver_audit_level_total\{level="None"\} 1/);
});

test('answered() records errors and unexpected errors', () => {
  const { begin, lines, text } = start('omitStages: [RequestReceived], rules: [{level: Metadata}]');
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'no',
    reason: 'Forbidden',
    code: 403,
  } as const;
  const ask = () => begin({ method: 'GET', path: '/metrics' });
  ask()?.answered({ response: answer(403, status), status });
  ask()?.answered({ response: answer(500, {}), isPanic: true });
  assert.deepEqual(
    lines.map(({ stage, responseStatus }) => [stage, responseStatus]),
    [
      [
        'ResponseComplete',
        { metadata: {}, status: 'Failure', message: 'no', reason: 'Forbidden', code: 403 },
      ],
      ['Panic', { metadata: {}, code: 500 }],
    ],
  );
  assert.match(text(), /^apiserver_audit_event_total 2$/m);
});

test('answered() records the start and the end of a stream', () => {
  const { begin, lines } = start('rules: [{level: RequestResponse}]');
  const listeners: (() => void)[] = [];
  let isStarted = false;
  const response: ApiResponse = {
    status: 200,
    headers: {},
    body: {
      start: () => {
        isStarted = true;
      },
    },
  };
  const followed = begin({ method: 'GET', path: '/api/v1/watch/pods' })?.answered({ response });
  const stages = () => lines.map(({ stage }) => stage);
  assert.deepEqual(stages(), ['RequestReceived']);
  const { body } = followed ?? {};
  assert.ok(typeof body === 'object' && 'start' in body);
  body.start({
    write: () => {},
    buffered: () => 0,
    end: () => {},
    onClose: (listener) => listeners.push(listener),
  });
  assert.ok(isStarted);
  assert.deepEqual(stages(), ['RequestReceived', 'ResponseStarted']);
  for (const listener of listeners) listener();
  assert.deepEqual(stages(), ['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
});

// Unusual rather than large bodies: reviews of a user with thousands of groups, unlikely field sets, bytes
// that are hardly protobuf. Each is answered, and takes the main thread no longer than its size explains.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalCall } from '../../src/apiserver/local-call.ts';
import { toEnvelope } from '../../src/schema/protobuf/envelope.ts';
import { type MemoryServer, startMemoryServer } from '../parts/harness/memory-server.ts';
import { type MainThreadMeter, measureMainThread } from './measure-main-thread.ts';

/** CPU time of the main thread in one go. The goal is 50 ms, by hand. */
const maxMs = 100;
const configMaps = '/api/v1/namespaces/default/configmaps';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const protobufType = 'application/vnd.kubernetes.protobuf';
const bodyBytes = 2_900_000;

type Attack = {
  readonly path: string;
  readonly body: unknown;
  readonly type?: string;
  readonly wanted: number;
};

const many = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));

const review = (spec: object): Attack => ({
  path: accessReviews,
  body: { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' }, ...spec } },
  wanted: 201,
});

const managed = (name: string, entries: number, fieldsV1: unknown) => ({
  metadata: {
    name,
    managedFields: many(entries, (n) => ({
      ...{ manager: `m${n}`, operation: 'Apply', apiVersion: 'v1' },
      ...{ time: '2024-01-01T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1 },
    })),
  },
});

const deepFields = many(400, (n) => `f:${n}`).reduce<object>(
  (inner, key) => ({ [key]: inner }),
  {},
);
const wideFields = Object.fromEntries(many(9_999, (n) => [`k:{"name":"x${n}"}`, {}]));

const bytes = (unit: readonly number[], wanted: number): Attack => ({
  path: configMaps,
  body: toEnvelope({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    message: Buffer.alloc(bodyBytes, Buffer.from(unit)),
  }),
  type: protobufType,
  wanted,
});

const attacks: Readonly<Record<string, Attack>> = {
  'a review of 9,999 groups': review({ groups: many(9_999, (n) => `g${n}`) }),
  'a review of 9,999 extra keys': review({
    extra: Object.fromEntries(many(9_999, (n) => [`k${n}`, ['a', 'b']])),
  }),
  'a review of a very long name': review({ user: 'u'.repeat(bodyBytes) }),
  'a token of dots for 9,999 audiences': {
    path: tokenReviews,
    body: { spec: { token: 'a.'.repeat(1_400_000), audiences: many(9_999, (n) => `a${n}`) } },
    wanted: 201,
  },
  'sets of fields 400 deep': {
    path: configMaps,
    body: managed('deep', 100, deepFields),
    wanted: 201,
  },
  'a set of 9,999 items': {
    path: configMaps,
    body: managed('wide', 1, { 'f:data': wideFields }),
    wanted: 201,
  },
  'four sets of 9,999 items': {
    path: configMaps,
    body: managed('wider', 4, { 'f:data': wideFields }),
    wanted: 413,
  },
  'groups of protobuf that never end': bytes([0x7b], 400),
  'a million unknown fields': bytes([0x78, 1], 413),
  'unknown fields of ten bytes': bytes([0x78, ...many(9, () => 0xff), 1], 413),
  'messages that end too early': bytes([0x0a, 0x80, 0x12, 0x01], 400),
};

describe('odd bodies', { skip: process.platform !== 'linux' }, () => {
  let memory: MemoryServer;
  let meter: MainThreadMeter;
  let call: ReturnType<typeof createLocalCall>;
  before(async () => {
    memory = await startMemoryServer();
    call = createLocalCall(memory.server.handle, { user: 'admin', groups: ['system:masters'] });
    meter = measureMainThread();
  });
  after(async () => {
    meter.stop();
    await memory.stop();
  });
  for (const [name, { path, body, type = 'application/json', wanted }] of Object.entries(attacks)) {
    it(name, async (t) => {
      const sent = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
      await new Promise((resolve) => setImmediate(resolve));
      meter.maxMs();
      const headers = { 'content-type': type };
      const answer = await call({ method: 'POST', path, headers, body: sent });
      for await (const _chunk of answer.body);
      await new Promise((resolve) => setImmediate(resolve));
      const ms = meter.maxMs();
      t.diagnostic(`${Math.round(ms)} ms`);
      assert.equal(answer.status, wanted);
      assert.ok(ms <= maxMs, `${Math.round(ms)} ms of the event loop`);
    });
  }
});

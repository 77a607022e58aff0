import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allKinds } from '../../kinds/all.ts';
import { ApiError } from '../../meta/api-error.ts';
import { createPace } from '../limits/pace.ts';
import type { ApiRequest } from '../message.ts';
import { reviewKinds } from '../reviews/all.ts';
import { parseDeleteOptions } from '../verbs/delete-options.ts';
import { decodeBody } from './decode-body.ts';

/** What kubectl 1.36 sends, byte for byte. */
const sent: Readonly<Record<string, { readonly hex: string; readonly object: object }>> = {
  'create namespace demo': {
    hex: '6b3873000a0f0a02763112094e616d657370616365121c0a140a0464656d6f12001a0022002a0032003800420012001a020a001a002200',
    object: {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'demo' },
      spec: {},
      status: {},
    },
  },
  'create service nodeport web --tcp=80:8080 --node-port=30080': {
    hex: '6b3873000a0d0a027631120753657276696365126a0a1f0a0377656212001a0022002a003200380042005a0a0a03617070120377656212430a1d0a0738302d38303830120354435018502207080010903f1a002880eb01120a0a0361707012037765621a0022084e6f6465506f72743a00420052005a00600068001a020a001a002200',
    object: {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        ports: [{ name: '80-8080', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
        selector: { app: 'web' },
        type: 'NodePort',
      },
      status: { loadBalancer: {} },
    },
  },
  'auth can-i get pods': {
    hex: '6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374416363657373526576696577123c0a100a0012001a0022002a00320038004200121e0a1c0a0764656661756c7412036765741a0022002a04706f647332003a001a08080012001a0020001a002200',
    object: {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
      status: { allowed: false },
    },
  },
  'create deployment d --image=a:1 --replicas=2': {
    hex: '6b3873000a150a07617070732f7631120a4465706c6f796d656e74129d010a1b0a016412001a0022002a003200380042005a080a0361707012016412700802120a0a080a036170701201641a580a1a0a0012001a0022002a003200380042005a080a03617070120164123a121c0a01611203613a312a0042006a007200800100880100900100a201001a00320042004a0052005800600068008201008a01009a0100c2010022020a00280038001a0c0800100018002000280038001a002200',
    object: {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'd', labels: { app: 'd' } },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'd' } },
        template: {
          metadata: { labels: { app: 'd' } },
          spec: { containers: [{ name: 'a', image: 'a:1', resources: {} }] },
        },
        strategy: {},
      },
      status: {},
    },
  },
  'create ingress i --rule=a/b=c:80': {
    hex: '6b3873000a1f0a146e6574776f726b696e672e6b38732e696f2f76311207496e6772657373123c0a110a016912001a0022002a0032003800420012231a210a0161121c0a1a0a180a022f62120b22090a016312040a0010501a0545786163741a020a001a002200',
    object: {
      kind: 'Ingress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'i' },
      spec: {
        rules: [
          {
            host: 'a',
            http: {
              paths: [
                {
                  path: '/b',
                  pathType: 'Exact',
                  backend: { service: { name: 'c', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
      status: { loadBalancer: {} },
    },
  },
};

const protobuf = 'application/vnd.kubernetes.protobuf';

function decodeAs(kindName: string, body: Buffer): Promise<object> {
  const kind = [...allKinds, ...reviewKinds].find((k) => k.kind === kindName);
  assert.ok(kind !== undefined);
  const warn = (text: string): void => assert.fail(text);
  const contentType = protobuf;
  return decodeBody({
    body,
    contentType,
    kind,
    known: allKinds,
    fieldValidation: 'Strict',
    warn,
    pace: createPace(),
  });
}

describe('decodeBody() of protobuf', () => {
  for (const [command, { hex, object }] of Object.entries(sent)) {
    it(`reads kubectl ${command}`, async () => {
      const { kind } = object as { readonly kind: string };
      assert.deepEqual(await decodeAs(kind, Buffer.from(hex, 'hex')), object);
    });
  }

  const refused: Readonly<Record<string, readonly [body: string, message: string]>> = {
    'an empty body': [
      '',
      'the object provided is unrecognized (must be of type Namespace): empty data (<empty>)',
    ],
    JSON: [
      '7b7d',
      'the object provided is unrecognized (must be of type Namespace): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
    ],
    'an envelope that is cut off': [
      '6b3873000a0f0a02',
      'the object provided is unrecognized (must be of type Namespace): unexpected EOF (6b3873000a0f0a02)',
    ],
    'a message that is cut off': [
      '6b38730012020a05',
      'Namespace in version "v1" cannot be handled as a Namespace: unexpected EOF',
    ],
    'another kind': [
      '6b3873000a090a0276311203506f641200',
      'Pod in version "v1" cannot be handled as a Namespace: converting (v1.Pod) to (core.Namespace): unknown conversion',
    ],
    'a kind that does not exist': [
      '6b3873000a070a027631120158',
      'X in version "v1" cannot be handled as a Namespace: no kind "X" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
  };
  for (const [name, [hex, message]] of Object.entries(refused)) {
    it(`refuses ${name}`, () =>
      assert.rejects(decodeAs('Namespace', Buffer.from(hex, 'hex')), (error) => {
        assert.ok(error instanceof ApiError);
        assert.deepEqual([error.status.code, error.status.message], [400, message]);
        return true;
      }));
  }
});

describe('parseDelete() of protobuf', () => {
  const request = (hex: string): ApiRequest =>
    ({
      query: new URLSearchParams(),
      headers: { 'content-type': protobuf },
      body: async () => Buffer.from(hex, 'hex'),
    }) as unknown as ApiRequest;

  it('reads the options', async () => {
    const { options } = await parseDeleteOptions(
      request('6b3873000a130a027631120d44656c6574654f7074696f6e73120e0800220a4261636b67726f756e64'),
    );
    const { gracePeriodSeconds, propagationPolicy } = options;
    assert.deepEqual([gracePeriodSeconds, propagationPolicy], [0, 'Background']);
  });

  it('refuses another kind', () =>
    assert.rejects(parseDeleteOptions(request('6b3873000a090a0276311203506f641200')), ApiError));

  it('refuses bad bytes', () =>
    assert.rejects(parseDeleteOptions(request('6b38730012')), ApiError));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { findPodTarget, findServiceTarget, type Target } from './find-target.ts';

const namespace = 'default';
const pod = (name: string, ip: string) =>
  examplePod({
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
    status: ip === '' ? {} : { podIPs: [{ ip }] },
  });
const toPod = (name: string, ip: string, inNamespace = namespace) => ({
  ip,
  targetRef: { kind: 'Pod', name, namespace: inNamespace },
});
const endpoints = (name: string, addresses: readonly object[]): KubeObject =>
  ({
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name, namespace },
    subsets: [
      { notReadyAddresses: [toPod('one', '10.0.0.1')], ports: [{ name: 'web', port: 1 }] },
      {
        addresses,
        ports: [
          { name: 'web', port: 8080 },
          { name: 'other', port: 9090 },
        ],
      },
    ],
  }) as unknown as KubeObject;

const objects: Readonly<Record<string, KubeObject>> = {
  'pods/one': pod('one', '10.0.0.1'),
  'pods/six': pod('six', 'fd00::6'),
  'pods/loop': pod('loop', '127.0.0.1'),
  'pods/new': pod('new', ''),
  'services/web': exampleService({
    spec: { ports: [{ name: 'web', port: 80, targetPort: 80, protocol: 'TCP' }] },
  }),
  'endpoints/web': endpoints('web', [
    { ip: '10.0.0.9' },
    toPod('gone', '10.0.0.1'),
    toPod('one', '10.0.0.2'),
    toPod('one', '10.0.0.1', 'other'),
    toPod('loop', '127.0.0.1'),
    toPod('one', '10.0.0.1'),
  ]),
  'endpoints/handmade': endpoints('handmade', [{ ip: '10.0.0.9' }, toPod('one', '10.0.0.2')]),
  'endpoints/empty': endpoints('empty', []),
  'endpoints/none': {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 'none', namespace },
  },
};

const reader: ObjectReader = {
  get: (resource, inNamespace, name) =>
    inNamespace === namespace ? objects[`${resource}/${name}`] : undefined,
  list: () => [],
  revision: () => 0,
};

type Result = Target | string;

function outcome(find: () => Target): Result {
  try {
    return find();
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `${error.status.code} ${error.message}`;
  }
}

const one = { scheme: 'http', host: '10.0.0.1', port: 8080 } as const;

const services: Readonly<Record<string, Result>> = {
  'web:web': one,
  'web:80': one,
  'https:web:other': { scheme: 'https', host: '10.0.0.1', port: 9090 },
  web: '503 no endpoints available for service "web"',
  'web:nope': '503 no endpoints available for service "web:nope"',
  'web:81': '503 no service port 81 found for service "web"',
  'handmade:web': '503 no endpoints available for service "handmade:web"',
  'empty:web': '503 no endpoints available for service "empty:web"',
  'none:web': '503 no endpoints available for service "none"',
  'http:web:+80': one,
  ':web:80': one,
  'ftp:web:80': '400 invalid service request "ftp:web:80"',
  ':80': '400 invalid service request ":80"',
  nope: '404 endpoints "nope" not found',
  'nope:80': '404 services "nope" not found',
  'x:web:80': '400 invalid service request "x:web:80"',
};

for (const [id, expected] of Object.entries(services)) {
  test(`findServiceTarget() leads ${id} to a pod of the namespace or nowhere (PXY-01, PXY-03, PXY-04, PXY-05, PXY-06)`, () => {
    for (const start of [0, 1, 4]) {
      const random = (below: number): number => start % below;
      assert.deepEqual(
        outcome(() => findServiceTarget({ reader, namespace, id, random })),
        expected,
      );
    }
  });
}

const pods: Readonly<Record<string, Result>> = {
  one,
  'one:9': { ...one, port: 9 },
  'one:http': one,
  'https:six:443': { scheme: 'https', host: 'fd00::6', port: 443 },
  'one:nope': '400 invalid port "nope"',
  'one:65536': '400 invalid port "65536"',
  loop: '400 address not allowed',
  new: '400 address not allowed',
  nope: '404 pods "nope" not found',
  'a:b:c:d': '400 invalid pod request "a:b:c:d"',
};

for (const [id, expected] of Object.entries(pods)) {
  test(`findPodTarget() leads ${id} to the pod's address (CNF-07)`, () => {
    assert.deepEqual(
      outcome(() => findPodTarget({ reader, namespace, id, random: () => 0 })),
      expected,
    );
  });
}

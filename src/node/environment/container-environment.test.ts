import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { Service } from '../../kinds/service/types.ts';
import { containerEnvironment, type EnvironmentOptions } from './container-environment.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u1', labels: { tier: 'front' } };

function environmentOf(container: object, more: Partial<EnvironmentOptions> = {}) {
  const pod = examplePod({
    metadata,
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'a', ...container }] },
  });
  const [first] = pod.spec.containers ?? [];
  assert.ok(first !== undefined);
  return containerEnvironment({
    pod,
    container: first,
    services: [],
    configMap: (name) =>
      name === 'settings'
        ? {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name },
            data: { color: 'red', 'a=b': 'x' },
          }
        : undefined,
    secret: (name) =>
      name === 'keys'
        ? { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { token: 'c2VjcmV0' } }
        : undefined,
    addresses: { podIPs: ['10.244.0.5', 'fd44::5'], hostIPs: ['10.0.0.1'] },
    allocatable: { cpu: '2', memory: '4Gi' },
    ...more,
  });
}

function variablesOf(container: object, more: Partial<EnvironmentOptions> = {}) {
  const found = environmentOf(container, more);
  assert.ok('variables' in found, JSON.stringify(found));
  return found.variables;
}

test('containerEnvironment() expands earlier variables and those of Services (ENV-11)', () => {
  const service = {
    metadata: { name: 'db', namespace: 'shop' },
    spec: { clusterIP: '10.0.0.11', ports: [{ port: 6379 }] },
  } as unknown as Service;
  const env = [
    { name: 'HOST', value: '$(DB_SERVICE_HOST)' },
    { name: 'URL', value: 'redis://$(HOST):$(DB_SERVICE_PORT)' },
    { name: 'LATER', value: '$(AFTER)' },
    { name: 'AFTER', value: 'x' },
  ];
  const variables = variablesOf({ env }, { services: [service] });
  assert.equal(variables.URL, 'redis://10.0.0.11:6379');
  assert.equal(variables.LATER, '$(AFTER)');
  assert.equal(variables.DB_PORT_6379_TCP_ADDR, '10.0.0.11');
});

test('containerEnvironment() prefers variables of the container to those of Services (ENV-11)', () => {
  const service = {
    metadata: { name: 'db', namespace: 'shop' },
    spec: { clusterIP: '10.0.0.11', ports: [{ port: 6379 }] },
  } as unknown as Service;
  const env = [{ name: 'DB_SERVICE_HOST', value: 'elsewhere' }];
  assert.equal(variablesOf({ env }, { services: [service] }).DB_SERVICE_HOST, 'elsewhere');
});

test('containerEnvironment() resolves fieldRef and resourceFieldRef', () => {
  const field = (name: string, fieldPath: string) => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  const quantity = (name: string, resource: string, divisor?: string) => ({
    name,
    valueFrom: { resourceFieldRef: { resource, divisor } },
  });
  const variables = variablesOf({
    env: [
      field('NAME', 'metadata.name'),
      field('TIER', "metadata.labels['tier']"),
      field('IPS', 'status.podIPs'),
      field('NODE', 'spec.nodeName'),
      quantity('CPU', 'limits.cpu'),
      quantity('MILLI', 'requests.cpu', '1m'),
      quantity('MEMORY', 'limits.memory', '1Mi'),
    ],
    resources: { limits: { memory: '64Mi' }, requests: { cpu: '250m' } },
  });
  assert.deepEqual(
    [variables.NAME, variables.TIER, variables.IPS, variables.NODE],
    ['web', 'front', '10.244.0.5,fd44::5', 'node-1'],
  );
  assert.deepEqual([variables.CPU, variables.MILLI, variables.MEMORY], ['2', '250', '64']);
});

test('containerEnvironment() resolves keys of ConfigMaps and Secrets, single and envFrom', () => {
  const found = environmentOf({
    envFrom: [
      { prefix: 'C_', configMapRef: { name: 'settings' } },
      { secretRef: { name: 'keys' } },
    ],
    env: [
      { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
      { name: 'GONE', valueFrom: { secretKeyRef: { name: 'no', key: 'x', optional: true } } },
    ],
  });
  assert.ok('variables' in found);
  const { variables } = found;
  assert.deepEqual(
    [variables.C_color, variables.token, variables.COLOR, 'GONE' in variables],
    ['red', 'secret', 'red', false],
  );
  assert.match(
    found.warnings[0]?.message ?? '',
    /^Keys \[a=b\] from the EnvFrom configMap shop\/settings/,
  );
});

const problems: readonly (readonly [string, object, string])[] = [
  [
    'no such ConfigMap',
    { envFrom: [{ configMapRef: { name: 'no' } }] },
    'configmap "no" not found',
  ],
  ['no such Secret', { envFrom: [{ secretRef: { name: 'no' } }] }, 'secret "no" not found'],
  [
    'no such key',
    { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'size' } } }] },
    "couldn't find key size in ConfigMap shop/settings",
  ],
  [
    'no such key of a Secret',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'x' } } }] },
    "couldn't find key x in Secret shop/keys",
  ],
];
for (const [name, container, problem] of problems) {
  test(`containerEnvironment() reports a missing reference: ${name}`, () => {
    assert.deepEqual(environmentOf(container), { problem });
  });
}

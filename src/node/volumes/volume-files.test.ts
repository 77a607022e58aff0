import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import { tokenSpecs, volumeFiles } from './volume-files.ts';

function filesOf(volume: object) {
  const pod = examplePod({
    metadata: { namespace: 'shop', labels: { b: '2', a: '1' } },
    spec: { volumes: [{ name: 'v', ...volume }] },
  });
  const [only] = pod.spec.volumes ?? [];
  assert.ok(only !== undefined);
  const result = volumeFiles(only, {
    pod,
    configMap: (name) =>
      name === 'settings'
        ? {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name },
            data: { color: 'red' },
            binaryData: { blob: 'AAE=' },
          }
        : undefined,
    secret: (name) =>
      name === 'keys'
        ? { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { token: 'eHl6' } }
        : undefined,
    token: ({ audience }) => (audience === 'unknown' ? undefined : `token-for-${audience}`),
    addresses: { podIPs: [], hostIPs: [] },
    allocatable: {},
  });
  if (result === undefined || 'problem' in result) return result?.problem;
  return Object.fromEntries(
    Object.entries(result.files).map(([path, { bytes, mode }]) => [
      path,
      `${mode.toString(8)} ${Buffer.from(bytes).toString('latin1')}`,
    ]),
  );
}

const cases: readonly (readonly [string, object, unknown])[] = [
  [
    'every key of a ConfigMap',
    { configMap: { name: 'settings' } },
    { color: '644 red', blob: '644 \x00\x01' },
  ],
  [
    'chosen keys of a Secret under other names',
    { secret: { secretName: 'keys', defaultMode: 0o400, items: [{ key: 'token', path: 'a/b' }] } },
    { 'a/b': '400 xyz' },
  ],
  ['a ConfigMap that is missing', { configMap: { name: 'no' } }, 'configmap "no" not found'],
  ['a Secret that is missing', { secret: { secretName: 'no' } }, 'secret "no" not found'],
  ['one that may be missing', { configMap: { name: 'no', optional: true } }, {}],
  [
    'a key that is missing',
    { configMap: { name: 'settings', items: [{ key: 'size', path: 'size' }] } },
    'references non-existent config key: size in configmap shop/settings',
  ],
  [
    'labels of the pod',
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { labels: '644 a="1"\nb="2"' },
  ],
  [
    'several sources, the later over the earlier',
    {
      projected: {
        sources: [
          { configMap: { name: 'settings', items: [{ key: 'color', path: 'x' }] } },
          { serviceAccountToken: { audience: 'api', path: 'token' } },
          { secret: { name: 'keys', items: [{ key: 'token', path: 'x' }] } },
        ],
      },
    },
    { x: '644 xyz', token: '600 token-for-api' },
  ],
  [
    'a token that is not there yet',
    { projected: { sources: [{ serviceAccountToken: { audience: 'unknown', path: 't' } }] } },
    'failed to fetch token: it has not been issued yet',
  ],
  ['no files for other volumes', { emptyDir: {} }, undefined],
];
for (const [name, volume, expected] of cases) {
  test(`volumeFiles(): ${name}`, () => assert.deepEqual(filesOf(volume), expected));
}

test('tokenSpecs() finds the tokens that a volume needs', () => {
  const volume = {
    name: 'v',
    projected: { sources: [{ serviceAccountToken: { audience: 'a', path: 't' } }] },
  };
  assert.deepEqual(tokenSpecs(volume), [{ audience: 'a', path: 't' }]);
});

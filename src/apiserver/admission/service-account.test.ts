import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import { mirrorAnnotation } from '../../kinds/pod/mirror.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ServiceAccount } from '../../kinds/service-account/types.ts';
import type { ExampleWrite } from './example.ts';
import { outcomeOf } from './example.ts';
import { serviceAccountPlugin } from './service-account.ts';

const account = (more: Partial<ServiceAccount> = {}, name = 'default'): ServiceAccount => ({
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  ...more,
});

const admit = (pod: Pod, ...objects: readonly ServiceAccount[]) =>
  outcomeOf(serviceAccountPlugin, { definition: podDefinition, after: pod, objects });

const path = '/var/run/secrets/kubernetes.io/serviceaccount';

test('ServiceAccount gives a pod the default account and its token', () => {
  const { spec } = admit(examplePod(), account()) as Pod;
  assert.equal(spec.serviceAccountName, 'default');
  assert.equal(spec.serviceAccount, 'default');
  assert.deepEqual(spec.containers?.[0]?.volumeMounts, [
    { name: 'kube-api-access-abcde', readOnly: true, mountPath: path },
  ]);
  assert.deepEqual(spec.volumes, [
    {
      name: 'kube-api-access-abcde',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [
                {
                  path: 'namespace',
                  fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
                },
              ],
            },
          },
        ],
        defaultMode: 420,
      },
    },
  ]);
});

test('ServiceAccount mounts the token only where nothing is mounted there', () => {
  const own = [{ name: 'own', mountPath: path }];
  const pod = examplePod({
    spec: {
      containers: [{ name: 'a', volumeMounts: own }, { name: 'b' }],
      initContainers: [{ name: 'c' }],
    },
  });
  const { spec } = admit(pod, account()) as Pod;
  assert.deepEqual(spec.containers?.[0]?.volumeMounts, own);
  assert.equal(spec.containers?.[1]?.volumeMounts?.length, 1);
  assert.equal(spec.initContainers?.[0]?.volumeMounts?.length, 1);
  assert.equal(spec.volumes?.length, 1);
});

const off = { automountServiceAccountToken: false };
const on = { automountServiceAccountToken: true };
const automount: readonly (readonly [object, Partial<ServiceAccount>, boolean])[] = [
  [{}, {}, true],
  [{}, off, false],
  [off, {}, false],
  [on, off, true],
  [off, on, false],
];
for (const [spec, ofAccount, expected] of automount) {
  const texts = `pod ${JSON.stringify(spec)} and account ${JSON.stringify(ofAccount)}`;
  test(`ServiceAccount ${expected ? 'mounts' : 'does not mount'} a token with ${texts}`, () => {
    const admitted = admit(examplePod({ spec }), account(ofAccount)) as Pod;
    assert.equal(admitted.spec.volumes !== undefined, expected);
  });
}

test('ServiceAccount gives a pod the secrets for images, unless it has its own', () => {
  const imagePullSecrets = [{ name: 's' }];
  const ofAccount = account({ imagePullSecrets });
  const own = [{ name: 'own' }];
  assert.deepEqual((admit(examplePod(), ofAccount) as Pod).spec.imagePullSecrets, imagePullSecrets);
  const pod = examplePod({ spec: { imagePullSecrets: own } });
  assert.deepEqual((admit(pod, ofAccount) as Pod).spec.imagePullSecrets, own);
});

test('ServiceAccount refuses a pod whose account is not there', () => {
  assert.equal(
    admit(examplePod({ spec: { serviceAccountName: 'robot' } }), account()),
    'pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
  );
});

const metadata = { annotations: { [mirrorAnnotation]: 'x' } };
const mirrors: readonly (readonly [object, string | undefined])[] = [
  [{}, undefined],
  [{ serviceAccountName: 'a' }, 'a mirror pod may not reference service accounts'],
  [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
  [
    {
      volumes: [
        { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
    },
    'a mirror pod may not use ServiceAccountToken volume projections',
  ],
];
for (const [spec, why] of mirrors) {
  test(`ServiceAccount leaves a mirror pod alone, ${why ?? 'with nothing of others'}`, () => {
    const pod = examplePod({ metadata, spec });
    assert.deepEqual(admit(pod), why === undefined ? pod : `pods "web" is forbidden: ${why}`);
  });
}

test('ServiceAccount looks only at new pods', () => {
  const after = examplePod();
  const others: readonly Partial<ExampleWrite>[] = [
    { operation: 'update' },
    { subresource: 'binding' },
  ];
  for (const other of others) {
    const write = { definition: podDefinition, after, ...other };
    assert.equal(outcomeOf(serviceAccountPlugin, write), after);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { defaultPodTemplate } from './defaults.ts';
import { dumpGo } from './go-dump.ts';
import { dumpQuantity } from './go-dump-quantity.ts';
import { templateHash } from './template-hash.ts';
import { type PodTemplateSpec, podTemplateSpec } from './types.ts';

function template(container: object = {}, spec: object = {}): PodTemplateSpec {
  const raw = {
    metadata: { labels: { app: 'web' } },
    spec: {
      containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 9376 }], ...container }],
      ...spec,
    },
  };
  return defaultPodTemplate(decode(podTemplateSpec, raw).object as PodTemplateSpec);
}

test('templateHash() equals that of kube-controller-manager 1.36', () => {
  assert.equal(templateHash(template()), '7d9d45bdf');
});

test('templateHash() changes with the template and with the collision count', () => {
  const hashes = [
    templateHash(template()),
    templateHash(template({ image: 'app:2' })),
    templateHash(template(), 0),
    templateHash(template(), 1),
  ];
  assert.equal(new Set(hashes).size, 4);
  for (const hash of hashes) assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

const fragments: readonly (readonly [string, object, string])[] = [
  ['named string types', { imagePullPolicy: 'Never' }, 'ImagePullPolicy:(v1.PullPolicy)Never'],
  [
    'embedded structs',
    { livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 5 } },
    'LivenessProbe:(*v1.Probe){ProbeHandler:(v1.ProbeHandler){Exec:(*v1.ExecAction)<nil> HTTPGet:(*v1.HTTPGetAction)<nil> TCPSocket:(*v1.TCPSocketAction){Port:(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)80 StrVal:(string)} Host:(string)} GRPC:(*v1.GRPCAction)<nil>} InitialDelaySeconds:(int32)0',
  ],
  [
    'quantities, sorted by name',
    { resources: { requests: { memory: '1Gi', cpu: '100m' } } },
    'Requests:(v1.ResourceList)map[cpu:{i:(resource.int64Amount){value:(int64)100 scale:(resource.Scale)-3} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)100m Format:(resource.Format)DecimalSI} memory:{i:(resource.int64Amount){value:(int64)1073741824 scale:(resource.Scale)0}',
  ],
  [
    'references with the embedded struct that JSON omits',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
    'SecretKeyRef:(*v1.SecretKeySelector){LocalObjectReference:(v1.LocalObjectReference){Name:(string)s} Key:(string)k Optional:(*bool)<nil>}',
  ],
  [
    'pointers as their values',
    { securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'] } } },
    'SecurityContext:(*v1.SecurityContext){Capabilities:(*v1.Capabilities){Add:([]v1.Capability)<nil> Drop:([]v1.Capability)[ALL]} Privileged:(*bool)<nil>',
  ],
];

for (const [title, container, want] of fragments) {
  test(`dumpGo() writes ${title}`, () => {
    const text = dumpGo(podTemplateSpec, template(container));
    assert.ok(text.includes(want), text);
  });
}

test('dumpGo() writes a volume with its embedded source', () => {
  const volumes = [{ name: 'v', configMap: { name: 'c' } }];
  const text = dumpGo(podTemplateSpec, template({}, { volumes }));
  assert.ok(
    text.includes(
      'Volumes:([]v1.Volume)[{Name:(string)v VolumeSource:(v1.VolumeSource){HostPath:(*v1.HostPathVolumeSource)<nil>',
    ),
  );
  assert.ok(
    text.includes(
      'ConfigMap:(*v1.ConfigMapVolumeSource){LocalObjectReference:(v1.LocalObjectReference){Name:(string)c} Items:([]v1.KeyToPath)<nil> DefaultMode:(*int32)420',
    ),
  );
});

const quantities: readonly (readonly [string, string, number, string, string])[] = [
  ['0', '0', 0, '0', ''],
  ['1', '1', 0, '1', 'DecimalSI'],
  ['1500m', '1500', -3, '1500m', 'DecimalSI'],
  ['2k', '2', 3, '2k', 'DecimalSI'],
  ['1e9', '1', 9, '1e9', 'DecimalExponent'],
  // Go keeps the text only when a quick check finds it canonical.
  ['128Mi', '134217728', 0, '', 'BinarySI'],
  ['1Gi', '1073741824', 0, '1Gi', 'BinarySI'],
];

for (const [text, value, scale, kept, format] of quantities) {
  test(`dumpQuantity() writes ${text} as Go stores it`, () => {
    assert.equal(
      dumpQuantity(text),
      `{i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${kept} Format:(resource.Format)${format}}`,
    );
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import type { Pod } from './types.ts';
import { validateEphemeralUpdate, validatePodCreate, validatePodUpdate } from './validate.ts';

const c = (fields: object) => ({ containers: [{ name: 'c', image: 'i', ...fields }] });
const first = 'spec.containers[0]';

const refused: readonly [string, object, readonly string[]][] = [
  ['no containers', { containers: [] }, ['spec.containers: Required value']],
  [
    'an unmasked /proc for users of the node',
    c({ securityContext: { procMount: 'Unmasked' } }),
    [
      `${first}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
    ],
  ],
  [
    'users of its own beside namespaces and devices of the node',
    {
      ...{ hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'd' } }],
      ...c({ volumeDevices: [{ name: 'd', devicePath: '/dev/d' }] }),
    },
    [
      'spec.hostNetwork: Forbidden: when `hostUsers` is false',
      'spec.HostPID: Forbidden: when `hostUsers` is false',
      'spec.HostIPC: Forbidden: when `hostUsers` is false',
      `${first}.volumeDevices: Forbidden: when \`hostUsers\` is false`,
    ],
  ],
  [
    'what a Windows pod cannot have',
    {
      ...{ os: { name: 'windows' }, hostPID: true, securityContext: { fsGroup: 1 } },
      ...c({ securityContext: { privileged: true, runAsUser: 1 } }),
    },
    [
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
      'spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod',
      `${first}.securityContext.privileged: Forbidden: cannot be set for a windows pod`,
      `${first}.securityContext.runAsUser: Forbidden: cannot be set for a windows pod`,
    ],
  ],
  [
    'what a Linux pod cannot have',
    { os: { name: 'linux' }, ...c({ securityContext: { windowsOptions: {} } }) },
    [
      `${first}.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
    ],
  ],
  ['no image', { containers: [{ name: 'c' }] }, [`${first}.image: Required value`]],
  [
    'repeated container name',
    {
      containers: [
        { name: 'c', image: 'i' },
        { name: 'c', image: 'i' },
      ],
    },
    ['spec.containers[1].name: Duplicate value: "c"'],
  ],
  [
    'init container with the name of a container',
    { initContainers: [{ name: 'app', image: 'i' }] },
    ['spec.initContainers[0].name: Duplicate value: "app"'],
  ],
  [
    'probe of an init container that is no sidecar',
    { initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }] },
    [
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'resize policies of other resources, or given twice',
    c({
      resizePolicy: [
        { resourceName: 'pods', restartPolicy: 'Restart' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    }),
    [
      `${first}.resizePolicy: Unsupported value: "pods": supported values: "cpu", "memory"`,
      `${first}.resizePolicy: Unsupported value: "Restart": supported values: "NotRequired", "RestartContainer"`,
      `${first}.resizePolicy[2]: Duplicate value: "cpu"`,
    ],
  ],
  [
    'a restart for new amounts in a pod that never restarts',
    {
      restartPolicy: 'Never',
      ...c({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
    },
    [
      `${first}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when \`restartPolicy\` is 'Never'`,
    ],
  ],
  [
    'no name for the second host alias',
    { hostAliases: [{ ip: '10.0.0.1', hostnames: ['a', ''] }] },
    [
      `spec.hostAliases[0].hostnames[1]: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
  ],
  ['port without number', c({ ports: [{}] }), [`${first}.ports[0].containerPort: Required value`]],
  [
    'protocol in lower case',
    c({ ports: [{ containerPort: 80, protocol: 'tcp' }] }),
    [
      `${first}.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`,
    ],
  ],
  [
    'repeated host port',
    c({
      ports: [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostPort: 80 },
      ],
    }),
    [`${first}.ports[1].hostPort: Duplicate value: "TCP//80"`],
  ],
  [
    'host port differs on the host network',
    { hostNetwork: true, ...c({ ports: [{ containerPort: 80, hostPort: 81 }] }) },
    [
      `${first}.ports[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`,
    ],
  ],
  [
    'mount without volume',
    c({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
    [`${first}.volumeMounts[0].name: Not found: "v"`],
  ],
  [
    'two sources of a value',
    c({
      env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    }),
    [
      `${first}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
    ],
  ],
  [
    'field that does not exist',
    c({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    [
      `${first}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
    ],
  ],
  [
    'request above the limit',
    c({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
    [
      `${first}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
    ],
  ],
  [
    'unknown resource',
    c({ resources: { requests: { foo: '1' } } }),
    [
      `${first}.resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified`,
      `${first}.resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers`,
    ],
  ],
  [
    'probe without handler',
    c({ livenessProbe: {} }),
    [`${first}.livenessProbe: Required value: must specify a handler type`],
  ],
  [
    'probe with two handlers',
    c({ livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 80 } } }),
    [`${first}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
  ],
  [
    'liveness needs one success',
    c({ livenessProbe: { exec: { command: ['x'] }, successThreshold: 2 } }),
    [`${first}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
  ],
  [
    'restart policy',
    { restartPolicy: 'Sometimes' },
    [
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
  ],
  [
    'dnsPolicy None without config',
    { dnsPolicy: 'None' },
    ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
  [
    'hostname with dots',
    { hostname: 'a.b' },
    ['spec.hostname: Invalid value: "a.b": must not contain dots'],
  ],
  [
    'hostnameOverride on the host network',
    { hostnameOverride: 'a', hostNetwork: true },
    ['spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true'],
  ],
  [
    'ephemeral containers on create',
    { ephemeralContainers: [{ name: 'e', image: 'i' }] },
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
  [
    'two volume sources',
    { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'toleration without key',
    { tolerations: [{ effect: 'NoSchedule' }] },
    [
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'token without service account',
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ],
  ],
];

for (const [name, spec, wanted] of refused) {
  test(`validatePodCreate() refuses: ${name}`, () => {
    assert.deepEqual(validatePodCreate(examplePod({ spec })).map(errorText), wanted);
  });
}

test('validatePodCreate() accepts a pod with most things in it', () => {
  const spec = {
    ...c({
      ports: [
        { containerPort: 80, name: 'a' },
        { containerPort: 80, name: 'b', protocol: 'UDP' },
      ],
      env: [
        { name: 'A', value: 'b' },
        { name: 'N', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      resources: { limits: { cpu: '1' } },
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
      readinessProbe: { grpc: { port: 80 } },
      securityContext: { runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } },
    }),
    initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
    volumes: [{ name: 'v', configMap: { name: 'm' } }],
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'a' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
  };
  assert.deepEqual(validatePodCreate(examplePod({ spec })), []);
});

const zones = (...values: readonly (readonly string[])[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions: values.map((v) => ({ key: 'zone', operator: 'In', values: v })) },
      ],
    },
  },
});
const terms =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const before = {
  activeDeadlineSeconds: 100,
  schedulingGates: [{ name: 'g' }],
  nodeSelector: { a: 'b' },
  affinity: zones(['a']),
};
const changes: readonly [string, object, readonly string[]][] = [
  ['image', c({ name: 'app', image: 'app:2' }), []],
  ['shorter deadline', { activeDeadlineSeconds: 50 }, []],
  ['opened gate', { schedulingGates: [] }, []],
  ['added toleration', { tolerations: [{ operator: 'Exists' }] }, []],
  [
    'longer deadline',
    { activeDeadlineSeconds: 101 },
    [
      'spec.activeDeadlineSeconds: Invalid value: 101: must be less than or equal to previous value',
    ],
  ],
  [
    'no deadline',
    { activeDeadlineSeconds: null },
    [
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ],
  ],
  [
    'another container',
    {
      containers: [
        { name: 'app', image: 'a' },
        { name: 'b', image: 'b' },
      ],
    },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  [
    'blanks around an image',
    { containers: [{ name: 'app', image: ' ' }] },
    [
      'spec.containers[0].image: Invalid value: " ": must not have leading or trailing whitespace',
      'spec.containers[0].image: Invalid value: " ": must not have leading or trailing whitespace',
    ],
  ],
  [
    'another selector behind a gate',
    { nodeSelector: { a: 'c', d: 'e' } },
    [
      'spec.nodeSelector: Invalid value: {"a":"c","d":"e"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ],
  [
    'no selector behind a gate',
    { nodeSelector: null },
    [
      'spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ],
  ['a narrower selector behind a gate', { nodeSelector: { a: 'b', d: 'e' } }, []],
  ['a narrower affinity behind a gate', { affinity: zones(['a'], ['b']) }, []],
  [
    'another affinity behind a gate',
    { affinity: zones(['b']) },
    [
      `${terms}[0]: Invalid value: {"MatchExpressions":[{"Key":"zone","Operator":"In","Values":["b"]}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
    ],
  ],
  [
    'no affinity behind a gate',
    { affinity: null },
    [
      `${terms}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
    ],
  ],
  [
    'new gate',
    { schedulingGates: [{ name: 'g' }, { name: 'h' }] },
    [
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'",
    ],
  ],
];

for (const [name, change, wanted] of changes) {
  test(`validatePodUpdate() of: ${name}`, () => {
    const after = examplePod({ spec: { ...before, ...change } });
    const errors = validatePodUpdate(examplePod({ spec: before }), after);
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('validatePodUpdate() names the forbidden change', () => {
  const errors = validatePodUpdate(examplePod(), examplePod({ spec: { hostname: 'x' } }));
  assert.equal(errors[0]?.field, 'spec');
  assert.match(errors[0]?.detail ?? '', /^pod updates may not change fields other than `spec.c/);
  assert.match(
    errors[0]?.detail ?? '',
    /negative\)\n@@ -\d+,7 \+\d+,7 @@\n[^@]*\n\+ "Hostname": "x",\n/,
  );
});

test('validateEphemeralUpdate() accepts added containers only', () => {
  const one = examplePod({ spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } });
  assert.deepEqual(validateEphemeralUpdate(examplePod(), one), []);
  const texts = (after: Pod) => validateEphemeralUpdate(one, after).map(errorText);
  assert.deepEqual(texts(examplePod()), [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
  ]);
  const other = examplePod({ spec: { ephemeralContainers: [{ name: 'e', image: 'j' }] } });
  assert.match(
    texts(other)[0] ?? '',
    /"e" may not be changed\n@@ [^@]* @@\n[^@]*\n- "Image": "i",\n/,
  );
});

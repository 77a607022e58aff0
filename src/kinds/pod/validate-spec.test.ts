import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import { validatePodSpec } from './validate-spec.ts';

const c = (fields: object) => ({ containers: [{ name: 'c', image: 'i', ...fields }] });
const init = (fields: object) => ({ initContainers: [{ name: 'd', image: 'i', ...fields }] });
const first = 'spec.containers[0]';
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const nodes = 'spec.affinity.nodeAffinity';
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const spread = (...constraints: readonly object[]) => ({
  topologySpreadConstraints: constraints.map((constraint) => ({
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    ...constraint,
  })),
});
const spreadAt = 'spec.topologySpreadConstraints[0]';
const podTerm = (term: object) => ({ affinity: { podAffinity: { [required]: [term] } } });
const podAt = `spec.affinity.podAffinity.${required}[0]`;
const secure = (securityContext: object) => c({ securityContext });

const cases: readonly (readonly [name: string, spec: object, wanted: readonly string[]])[] = [
  [
    'an unknown operating system',
    { os: { name: 'plan9' } },
    ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ],
  ['no operating system', { os: {} }, ['spec.os.name: Required value: cannot be empty']],
  [
    'an unknown preemption policy',
    { preemptionPolicy: 'x' },
    [
      'spec.preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
    ],
  ],
  [
    'a negative overhead',
    { overhead: { cpu: '-1' } },
    ['spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'an empty runtime class',
    { runtimeClassName: '' },
    [`spec.runtimeClassName: Invalid value: "": ${subdomain}`],
  ],
  ['a command of one empty word', c({ livenessProbe: { exec: { command: [''] } } }), []],
  [
    'a key of no object',
    c({ env: [{ name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }] }),
    [`${first}.env[0].valueFrom.secretKeyRef.name: Invalid value: "": ${subdomain}`],
  ],
  [
    'variables from nothing',
    c({ envFrom: [{}] }),
    [`${first}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``],
  ],
  [
    'a label that is none',
    c({
      env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['B/C/d']" } } }],
    }),
    [
      `${first}.env[0].valueFrom.fieldRef: Invalid value: "b/c/d": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  [
    'a part of a field that has none',
    c({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } }] }),
    [
      `${first}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name['a']": error converting fieldPath: field label does not support subscript: metadata.name['a']`,
    ],
  ],
  [
    'an odd divisor',
    c({
      env: [
        { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
      ],
    }),
    [
      `${first}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
    ],
  ],
  [
    'an unknown resource',
    c({ resources: { requests: { foo: '1' } } }),
    [
      `${first}.resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified`,
      `${first}.resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers`,
    ],
  ],
  [
    'a resource that only quotas have',
    c({ resources: { requests: { pods: '1' } } }),
    [
      `${first}.resources.requests[pods]: Invalid value: "pods": must be a standard resource for containers`,
    ],
  ],
  [
    'a device without limit',
    c({ resources: { requests: { 'example.com/gpu': '1' } } }),
    [
      `${first}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
    ],
  ],
  [
    'a path out of the volume',
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      ...c({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../b' }] }),
    },
    [`${first}.volumeMounts.subPath: Invalid value: "../b": must not contain '..'`],
  ],
  [
    'two volumes in one',
    { volumes: [{ name: 'v', hostPath: { path: '/a' }, emptyDir: {}, downwardAPI: {} }] },
    [
      'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
      'spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type',
    ],
  ],
  [
    'a file with a reserved name',
    { volumes: [{ name: 'v', configMap: { name: 'm', items: [{ key: 'k', path: '..a' }] } }] },
    [`spec.volumes[0].configMap.items[0].path: Invalid value: "..a": must not start with '..'`],
  ],
  [
    'one host port twice in an init container',
    init({
      ports: [
        { containerPort: 1, hostPort: 1 },
        { containerPort: 2, hostPort: 1 },
      ],
    }),
    ['spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//1"'],
  ],
  [
    'fields that containers for debugging lack',
    {
      ephemeralContainers: [
        { name: 'e', image: ' i', resources: { limits: { cpu: '1' } }, restartPolicy: 'Always' },
      ],
    },
    [
      'spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
      'spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container',
    ],
  ],
  [
    'a label value that no node has',
    {
      affinity: {
        nodeAffinity: {
          [required]: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'a', operator: 'In', values: ['a b'] }] },
            ],
          },
        },
      },
    },
    [
      `${nodes}.${required}.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "a b": ${labelText}`,
    ],
  ],
  [
    'neighbours without a place',
    podTerm({ topologyKey: '', matchLabelKeys: ['a'] }),
    [
      `${podAt}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
      `${podAt}.topologyKey: Required value: can not be empty`,
      `${podAt}.topologyKey: Invalid value: "": name part must be non-empty`,
      `${podAt}.topologyKey: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
  ],
  [
    'one spread twice',
    spread({}, {}),
    [`${spreadAt}.{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`],
  ],
  [
    'places that need not be',
    spread({ whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 }),
    [
      `${spreadAt}.minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
    ],
  ],
  [
    'keys that the selector names',
    spread({ matchLabelKeys: ['a'], labelSelector: { matchLabels: { a: 'b' } } }),
    [
      `${spreadAt}.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
    ],
  ],
  [
    'a profile for another type',
    secure({ seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } }),
    [
      `${first}.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"Unconfined","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost`,
    ],
  ],
  [
    'profiles without type',
    secure({ seccompProfile: {}, appArmorProfile: {} }),
    [
      `${first}.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set`,
      `${first}.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set`,
    ],
  ],
  [
    'rights that exclude each other',
    secure({ privileged: true, allowPrivilegeEscalation: false }),
    [
      `${first}.securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    ],
  ],
];

for (const [name, spec, wanted] of cases) {
  test(`validatePodSpec() of ${name}`, () => {
    const errors = validatePodSpec(examplePod({ spec }).spec, 'spec');
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

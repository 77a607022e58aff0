import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import { validatePodSpec } from './validate-spec.ts';

const c = (fields: object) => ({ containers: [{ name: 'c', image: 'i', ...fields }] });
const init = (fields: object) => ({ initContainers: [{ name: 'd', image: 'i', ...fields }] });
const secure = (securityContext: object) => c({ securityContext });
const first = 'spec.containers[0]';
const devices = `${first}.volumeDevices`;
const claims = `${first}.resources.claims`;
const windows = `${first}.securityContext.windowsOptions`;
const users = (index: number) =>
  `spec.containers[${index}].securityContext.windowsOptions.runAsUserName`;
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const cases: readonly (readonly [name: string, spec: object, wanted: readonly string[]])[] = [
  [
    'volume devices',
    {
      volumes: [
        { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
        { name: 'e', emptyDir: {} },
      ],
      ...c({
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
        volumeDevices: [
          { name: 'v', devicePath: '/v' },
          { name: 'v', devicePath: '/v' },
          { name: 'e', devicePath: '/a/../b' },
          { name: 'x', devicePath: '/x' },
          {},
        ],
      }),
    },
    [
      `${first}.volumeMounts[0].name: Invalid value: "v": must not already exist in volumeDevices`,
      `${first}.volumeMounts[0].mountPath: Invalid value: "/v": must not already exist as a path in volumeDevices`,
      `${devices}[0].name: Invalid value: "v": must not already exist in volumeMounts`,
      `${devices}[0].devicePath: Invalid value: "/v": must not already exist as a path in volumeMounts`,
      `${devices}[1].name: Invalid value: "v": must be unique`,
      `${devices}[1].devicePath: Invalid value: "/v": must be unique`,
      `${devices}[1].name: Invalid value: "v": must not already exist in volumeMounts`,
      `${devices}[1].devicePath: Invalid value: "/v": must not already exist as a path in volumeMounts`,
      `${devices}[2].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
      `${devices}[2].devicePath: Invalid value: "/a/../b": can not contain backsteps ('..')`,
      `${devices}[3].name: Not found: "x"`,
      `${devices}[4].name: Required value`,
      `${devices}[4].name: Not found: ""`,
      `${devices}[4].devicePath: Required value`,
    ],
  ],
  [
    'how mounts pass on',
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      ...c({
        volumeMounts: [
          { name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' },
          { name: 'v', mountPath: '/b', mountPropagation: '' },
          {
            name: 'v',
            mountPath: '/c',
            recursiveReadOnly: 'Enabled',
            mountPropagation: 'HostToContainer',
          },
          { name: 'v', mountPath: '/d', recursiveReadOnly: 'x' },
        ],
      }),
    },
    [
      `${first}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
      `${first}.volumeMounts.mountPropagation: Unsupported value: "": supported values: "Bidirectional", "HostToContainer", "None"`,
      `${first}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
      `${first}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`,
      `${first}.volumeMounts.recursiveReadOnly: Unsupported value: "x": supported values: "Disabled", "Enabled", "IfPossible"`,
    ],
  ],
  [
    'claims of the pod',
    {
      resourceClaims: [
        { name: 'a' },
        { name: 'a', resourceClaimName: 'c', resourceClaimTemplateName: 't' },
        { name: '', resourceClaimName: 'x_y' },
        { name: 'B', resourceClaimTemplateName: 'fine' },
      ],
    },
    [
      'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'spec.resourceClaims[1].name: Duplicate value: "a"',
      'spec.resourceClaims[1]: Invalid value: {"Name":"a","ResourceClaimName":"c","ResourceClaimTemplateName":"t"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      'spec.resourceClaims[2].name: Required value',
      `spec.resourceClaims[2].resourceClaimName: Invalid value: "x_y": ${subdomain}`,
      `spec.resourceClaims[3].name: Invalid value: "B": ${label}`,
    ],
  ],
  [
    'claims of containers',
    {
      resourceClaims: [
        { name: 'b', resourceClaimName: 'b' },
        { name: 'a', resourceClaimName: 'a' },
      ],
      ...c({
        resources: {
          claims: [
            { name: 'a', request: 'one' },
            { name: 'a', request: 'one' },
            { name: 'a' },
            { name: 'a', request: 'two' },
            { name: '' },
            { name: 'x' },
            { name: 'b', request: 'B' },
          ],
        },
      }),
    },
    [
      `${claims}[1]: Duplicate value: "a/one"`,
      `${claims}[2]: Duplicate value: "a"`,
      `${claims}[3]: Duplicate value: "a"`,
      `${claims}[4]: Required value`,
      `${claims}[5]: Not found: "x": must be one of the names in pod.spec.resourceClaims: a, b`,
      `${claims}[6].request: Invalid value: "B": ${label}`,
    ],
  ],
  [
    'a claim of a container where the pod has none',
    c({ resources: { claims: [{ name: 'x' }] } }),
    [
      `${claims}[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty`,
    ],
  ],
  [
    'claims of the pod as a whole',
    { resources: { claims: [{ name: 'x' }] } },
    [
      'spec.resources.claims: Forbidden: claims cannot be set for Resources at pod-level',
      'spec.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ],
  [
    'options for Windows',
    secure({
      windowsOptions: { gmsaCredentialSpecName: 'A', gmsaCredentialSpec: '', runAsUserName: '' },
    }),
    [
      `${windows}.gmsaCredentialSpecName: Invalid value: "A": ${subdomain}`,
      `${windows}.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string`,
      `${windows}.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string`,
    ],
  ],
  [
    'users of Windows',
    {
      containers: ['a\tb', 'a\\b\\c', '.d\\..', 'd.e\\x@y', `d\\${'u'.repeat(105)}`, 'd\\'].map(
        (runAsUserName, index) => ({
          ...{ name: `c${index}`, image: 'i' },
          securityContext: { windowsOptions: { runAsUserName } },
        }),
      ),
    },
    [
      `${users(0)}: Invalid value: "a\\tb": runAsUserName cannot contain control characters`,
      `${users(1)}: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash`,
      `${users(2)}: Invalid value: ".d\\\\..": runAsUserName's Domain doesn't match the NetBios nor the DNS format`,
      `${users(2)}: Invalid value: ".d\\\\..": runAsUserName's User cannot contain only periods or spaces`,
      `${users(3)}: Invalid value: "d.e\\\\x@y": runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`,
      `${users(4)}: Invalid value: "d\\\\${'u'.repeat(105)}": runAsUserName's User length must not be longer than 104 characters`,
      `${users(5)}: Invalid value: "d\\\\": runAsUserName's User cannot be empty`,
    ],
  ],
  [
    'processes of a Windows host',
    {
      securityContext: { windowsOptions: { hostProcess: true } },
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i', securityContext: { windowsOptions: { hostProcess: false } } },
      ],
    },
    [
      'spec.containers[1].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true',
      'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ],
  ],
  [
    'rules for restarts',
    c({
      restartPolicyRules: [
        { action: 'x', exitCodes: { operator: 'y', values: Array(256).fill(1) } },
        { action: 'Restart' },
        ...Array(19).fill({ action: 'Restart', exitCodes: { operator: 'In' } }),
      ],
    }),
    [
      `${first}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
      `${first}.restartPolicyRules: Too many: 21: must have at most 20 items`,
      `${first}.restartPolicyRules[0].action: Unsupported value: "x": supported values: "Restart"`,
      `${first}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "y": supported values: "In", "NotIn"`,
      `${first}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items`,
      `${first}.restartPolicyRules[1].exitCodes: Required value: must be specified`,
    ],
  ],
  [
    'an unknown policy of restarts',
    c({ restartPolicy: '' }),
    [
      `${first}.restartPolicy: Unsupported value: "": supported values: "Always", "Never", "OnFailure"`,
    ],
  ],
  [
    'rules for restarts of a sidecar',
    init({
      restartPolicy: 'Always',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In' } }],
    }),
    [
      'spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
    ],
  ],
  [
    'rules for restarts of an init container without policy',
    init({ restartPolicyRules: [{ action: 'x' }] }),
    [
      'spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used',
    ],
  ],
];

for (const [name, spec, wanted] of cases) {
  test(`validatePodSpec() of ${name}`, () => {
    const errors = validatePodSpec(examplePod({ spec }).spec, 'spec');
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('validatePodSpec() accepts templates without host ports', () => {
  const port = (hostPort: number) => ({
    hostNetwork: true,
    ...c({ ports: [{ containerPort: 80, hostPort, protocol: 'TCP' }] }),
  });
  const judged = (hostPort: number, isTemplate: boolean) => {
    const { spec } = examplePod({ spec: { ...port(hostPort), hostNetwork: false } });
    return validatePodSpec({ ...spec, hostNetwork: true }, 'spec', { isTemplate }).map(errorText);
  };
  const text = (value: number) =>
    `${first}.ports[0].hostPort: Invalid value: ${value}: must match \`containerPort\` when \`hostNetwork\` is true`;
  assert.deepEqual(judged(0, true), []);
  assert.deepEqual(judged(0, false), [text(0)]);
  assert.deepEqual(judged(81, true), [text(81)]);
});

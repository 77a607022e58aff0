import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { defaultPod } from './defaults.ts';
import { examplePod } from './example.ts';
import { validatePodSpec } from './validate-spec.ts';

type Lists = {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
};

const container = (name: string, resources: Lists = {}): object => ({
  name,
  image: 'i',
  resources,
});
const problems = (spec: object): readonly string[] =>
  validatePodSpec(examplePod({ spec: { containers: [container('c')], ...spec } }).spec, 'spec').map(
    errorText,
  );

const supported = 'supported values: "cpu", "hugepages-", "memory"';
const cases: readonly (readonly [string, object, readonly string[]])[] = [
  ['cpu and memory', { resources: { limits: { cpu: '1', memory: '1Gi' } } }, []],
  [
    'an extended resource',
    { resources: { limits: { 'a.b/c': '1' } } },
    [`spec.resources.limits[a.b/c]: Unsupported value: "a.b/c": ${supported}`],
  ],
  [
    'a standard resource of containers alone',
    { resources: { requests: { 'ephemeral-storage': '1' } } },
    [
      `spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": ${supported}`,
    ],
  ],
  [
    'a resource without a domain',
    { resources: { limits: { foo: '1' } } },
    [
      'spec.resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
    ],
  ],
  [
    'windows',
    { os: { name: 'windows' }, resources: { limits: { foo: '1' } } },
    ['spec.resources: Forbidden: may not be set for a windows pod'],
  ],
  [
    'less than its containers request together',
    {
      resources: { requests: { cpu: '1', memory: '5Gi' } },
      containers: ['a', 'b'].map((name) =>
        container(name, { requests: { cpu: '750m', memory: '3Gi' } }),
      ),
    },
    [
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
      'spec.resources.requests[memory]: Invalid value: "5Gi": must be greater than or equal to aggregate container requests of 6Gi',
    ],
  ],
  [
    'less than an init container beside a sidecar',
    {
      resources: { requests: { cpu: '1' } },
      initContainers: [
        { ...container('s', { requests: { cpu: '500m' } }), restartPolicy: 'Always' },
        container('i', { requests: { cpu: '1' } }),
      ],
    },
    [
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
    ],
  ],
  [
    'less than a container may use',
    {
      resources: { limits: { memory: '1Gi' } },
      containers: [
        container('a'),
        container('b', { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } }),
      ],
    },
    [
      'spec.resources.containers[1][memory].limits: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
    ],
  ],
  [
    'pages that are not whole',
    {
      resources: {
        limits: { cpu: '1', 'hugepages-2Mi': '3Mi' },
        requests: { 'hugepages-2Mi': '3Mi' },
      },
    },
    ['limits', 'requests'].map(
      (kind) =>
        `spec.resources.${kind}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    ),
  ],
];

for (const [name, spec, want] of cases) {
  test(`validatePodResources() judges ${name}`, () => {
    assert.deepEqual(problems(spec), want);
  });
}

const defaults: readonly (readonly [string, Lists, readonly Lists[], Lists])[] = [
  [
    'requests what its containers request, or else its limit',
    { limits: { cpu: '4', memory: '4Gi' } },
    [{ requests: { cpu: '500m' } }, { requests: { cpu: '1' } }],
    { limits: { cpu: '4', memory: '4Gi' }, requests: { cpu: '1500m', memory: '4Gi' } },
  ],
  [
    'keeps what it requests itself',
    { requests: { cpu: '3' } },
    [{ requests: { cpu: '1', memory: '1Gi', 'a.b/c': '1' }, limits: { 'a.b/c': '1' } }],
    { requests: { cpu: '3', memory: '1Gi' } },
  ],
  [
    'may use the huge pages of its containers',
    { limits: { cpu: '1' } },
    [{ limits: { 'hugepages-2Mi': '2Mi' } }, { limits: { 'hugepages-2Mi': '4Mi' } }],
    {
      limits: { cpu: '1', 'hugepages-2Mi': '6Mi' },
      requests: { cpu: '1', 'hugepages-2Mi': '6Mi' },
    },
  ],
  ['that says nothing of amounts stays as it is', {}, [{ requests: { cpu: '1' } }], {}],
];

for (const [name, resources, each, want] of defaults) {
  test(`defaultPod(): the pod as a whole ${name}`, () => {
    const containers = each.map((lists, index) => container(`c${index}`, lists));
    const { spec } = defaultPod(examplePod({ spec: { containers, resources } }));
    assert.deepEqual(spec.resources, want);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from './container.ts';
import { examplePod } from './example.ts';
import type { PodSpec } from './pod-spec.ts';
import type { Pod } from './types.ts';
import { podStatusWarnings, podWarnings, templateWarnings } from './warnings.ts';

const plain = examplePod();
const first: Container = { name: 'c', image: 'i', resources: {} };
const second: Container = { name: 'd', image: 'i', resources: {} };

const pod = (spec: Partial<PodSpec>, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  ...plain,
  metadata: { ...plain.metadata, ...metadata },
  spec: { ...plain.spec, containers: [first], ...spec },
});

const port = { containerPort: 80, protocol: 'TCP' };
const noSelector = 'a null labelSelector results in matching no pod';
const clash = 'spec.containers[1].ports[0]';
const earlier = 'spec.containers[0].ports[0]';

const cases: readonly [title: string, pod: Pod, warnings: readonly string[]][] = [
  ['nothing', pod({}), []],
  [
    'a name that is no label',
    pod({}, { name: 'a.b' }),
    [
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ],
  ],
  [
    'an old node label',
    pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux', 'kubernetes.io/os': 'linux' } }),
    [
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
  ],
  [
    'spreading over nothing',
    pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    [`spec.topologySpreadConstraints[0].labelSelector: ${noSelector}`],
  ],
  [
    'anti-affinity to no pods',
    pod({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }],
        },
      },
    }),
    [
      `spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${noSelector}`,
    ],
  ],
  [
    'old annotations',
    pod({}, { annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } }),
    [
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    ],
  ],
  [
    'an address with two lines',
    pod({
      hostAliases: [
        { ip: '10.0.0.1', hostnames: ['a'] },
        { ip: '10.0.0.1', hostnames: ['b'] },
      ],
    }),
    ['spec.hostAliases[1].ip: duplicate ip "10.0.0.1"'],
  ],
  [
    'addresses in an odd form',
    pod({ dnsConfig: { nameservers: ['FD00::1'] } }),
    [
      'spec.dnsConfig.nameservers[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    ],
  ],
  [
    'a part of a byte',
    pod({ containers: [{ ...first, resources: { limits: { memory: '500m', cpu: '500m' } } }] }),
    [
      'spec.containers[0].resources.limits[memory]: fractional byte value "500m" is invalid, must be an integer',
    ],
  ],
  [
    'a variable that hides one',
    pod({
      containers: [
        {
          ...first,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A)2' },
            { name: 'A', value: '3' },
          ],
        },
      ],
    }),
    [
      'spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply',
    ],
  ],
  [
    'the same port in two containers',
    pod({
      containers: [
        { ...first, ports: [port] },
        { ...second, ports: [port] },
      ],
    }),
    [`${clash}: duplicate port definition with ${earlier}`],
  ],
  [
    'a port that is also one of the node',
    pod({
      containers: [
        { ...first, ports: [port] },
        { ...second, ports: [{ ...port, hostPort: 80 }] },
      ],
    }),
    [`${clash}: overlapping port definition with ${earlier}`],
  ],
  [
    'a port of the node on one address and on all',
    pod({
      containers: [
        { ...first, ports: [{ ...port, hostPort: 80 }] },
        { ...second, ports: [{ ...port, hostPort: 80, hostIP: '10.0.0.1' }] },
      ],
    }),
    [`${clash}: dangerously ambiguous port definition with ${earlier}`],
  ],
  [
    'an address of the node without a port',
    pod({ containers: [{ ...first, ports: [{ ...port, hostIP: '10.0.0.1' }] }] }),
    [
      `${earlier}: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}`,
    ],
  ],
  [
    'a name that two ports have',
    pod({
      containers: [
        { ...first, ports: [{ ...port, name: 'http' }] },
        { ...second, ports: [{ ...port, containerPort: 81, name: 'http' }] },
      ],
    }),
    [
      `${clash}: duplicate port name "http" with ${earlier}, services and probes that select ports by name will use ${earlier}`,
    ],
  ],
  [
    'a volume plugin of old',
    pod({ volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] }),
    ['spec.volumes[0].gitRepo: deprecated in v1.11'],
  ],
  [
    'a secret without a name',
    pod({ imagePullSecrets: [{ name: '' }] }),
    ['spec.imagePullSecrets[0].name: invalid empty name ""'],
  ],
];

for (const [title, object, warnings] of cases) {
  test(`podWarnings() of ${title}`, () => assert.deepEqual(podWarnings(object), warnings));
}

test('templateWarnings() contain the path of the template', () => {
  const object = pod({ imagePullSecrets: [{ name: '' }] });
  assert.deepEqual(templateWarnings(object, 'spec.template.'), [
    'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""',
  ]);
});

test('podStatusWarnings() of addresses that are not canonical (API-66)', () => {
  const after = { ...plain, status: { ...plain.status, podIPs: [{ ip: 'FD00::1' }] } };
  assert.deepEqual(podStatusWarnings(plain, after), [
    'status.podIPs[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { examplePort, exampleService } from './example.ts';
import { type SpecChanges, withSpec } from './types.ts';
import { validateService } from './validate.ts';

/** Values of any kind: clients send what the types do not allow. */
type Sent = Readonly<Record<string, unknown>>;

const errors = (spec: Sent, metadata: ObjectMeta = {}): readonly string[] =>
  validateService(withSpec(exampleService({ metadata }), spec as SpecChanges)).map(errorText);

const balancer: Sent = {
  type: 'LoadBalancer',
  externalTrafficPolicy: 'Cluster',
  allocateLoadBalancerNodePorts: true,
};
const onlyForBalancers = "may only be used when `type` is 'LoadBalancer'";

const cases: readonly [string, Sent, readonly string[]][] = [
  ['accepts the example', {}, []],
  ['needs ports (API-12)', { ports: undefined }, ['spec.ports: Required value']],
  [
    'needs no ports when headless',
    { ports: undefined, clusterIP: 'None', clusterIPs: ['None'] },
    [],
  ],
  [
    'checks numbers of ports',
    { ports: [examplePort({ port: 0 })] },
    [
      'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'wants names for several ports',
    { ports: [examplePort(), examplePort({ port: 81 })] },
    ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  ],
  [
    'wants different names',
    {
      ports: [examplePort({ name: 'a' }), examplePort({ name: 'a', port: 81 })],
    },
    ['spec.ports[1].name: Duplicate value: "a"'],
  ],
  [
    'wants different ports and shows them in Go spelling',
    {
      ports: [examplePort({ name: 'a' }), examplePort({ name: 'b' })],
    },
    [
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  ],
  [
    'knows three protocols',
    { ports: [{ ...examplePort(), protocol: 'HTTP' }] },
    ['spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'forbids node ports for ClusterIP (API-34)',
    { ports: [examplePort({ nodePort: 30001 })] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    'lets load balancers have the port of the kubelet',
    { ...balancer, ports: [examplePort({ port: 10250 })] },
    [],
  ],
  [
    'bounds the affinity timeout (API-08)',
    {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } },
    },
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
    ],
  ],
  [
    'refuses special external addresses (API-29, API-30)',
    {
      externalTrafficPolicy: 'Cluster',
      externalIPs: ['0.0.0.0', '127.0.0.1', 'fe80::1', '010.0.0.1'],
    },
    [
      'spec.externalIPs[0]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'spec.externalIPs[2]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'spec.externalIPs[3]: Invalid value: "010.0.0.1": must not have leading 0s',
    ],
  ],
  [
    'refuses an unknown type and what belongs to others',
    {
      type: 'Foo',
      externalTrafficPolicy: 'Local',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    },
    [
      'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      `spec.LoadBalancerSourceRanges: Forbidden: ${onlyForBalancers}`,
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ],
  ],
  [
    'checks source ranges without the blanks around them (API-27, API-28)',
    {
      ...balancer,
      loadBalancerSourceRanges: [' 10.0.0.0/8 ', '10.0.0.1/8'],
    },
    [
      'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ],
  ],
  [
    'keeps balancer fields to load balancers',
    {
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'example.com/x',
      healthCheckNodePort: 30100,
    },
    [
      `spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyForBalancers}`,
      `spec.loadBalancerClass: Forbidden: ${onlyForBalancers}`,
      "spec.healthCheckNodePort: Invalid value: 30100: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  ],
  [
    'refuses None where an address is needed (API-33)',
    {
      ...balancer,
      type: 'NodePort',
      allocateLoadBalancerNodePorts: undefined,
      clusterIP: 'None',
      clusterIPs: ['None'],
    },
    ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  ],
  [
    'forbids addresses to ExternalName (API-32)',
    { type: 'ExternalName', externalName: 'x.example.com.' },
    [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
    ],
  ],
  [
    'knows three traffic distributions (API-37)',
    { trafficDistribution: '' },
    [
      'spec.trafficDistribution: Unsupported value: "": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  ],
];

for (const [name, spec, wanted] of cases) {
  test(`validateService() ${name}`, () => {
    assert.deepEqual(errors(spec), wanted);
  });
}

test('validateService() requires equal topology annotations (API-39)', () => {
  const annotations = {
    'service.kubernetes.io/topology-mode': 'Auto',
    'service.kubernetes.io/topology-aware-hints': 'Disabled',
  };
  assert.deepEqual(errors({}, { annotations }), [
    'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
  ]);
});

test('validateService() checks source ranges in the annotation where the field is empty (API-27)', () => {
  const key = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  const metadata = { annotations: { [key]: '10.0.0.0/8, bad' } };
  const wanted = [
    `metadata.annotations[${key}]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
  ];
  assert.deepEqual(errors(balancer, metadata), wanted);
  assert.deepEqual(errors({ ...balancer, loadBalancerSourceRanges: ['10.0.0.0/8'] }, metadata), []);
});

test('validateService() accepts stored values that are not canonical (API-30)', () => {
  const stored = exampleService({
    spec: { externalIPs: ['198.51.100.07'], externalTrafficPolicy: 'Cluster' },
  });
  assert.deepEqual(validateService(stored, stored), []);
});

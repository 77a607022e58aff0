import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { exampleService } from './example.ts';
import { type Service, type SpecChanges, withSpec } from './types.ts';
import { validateServiceUpdate } from './validate-update.ts';

const single = exampleService();
const dual = exampleService({
  spec: {
    clusterIPs: ['10.96.0.20', 'fd00::20'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
  },
});
const headless = exampleService({ spec: { clusterIP: 'None', clusterIPs: ['None'] } });
const balancer = exampleService({
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30100,
    allocateLoadBalancerNodePorts: true,
    loadBalancerClass: 'example.com/x',
  },
});

const cases: readonly [string, Service, SpecChanges, readonly string[]][] = [
  ['accepts no change', dual, {}, []],
  [
    'keeps the address (API-44)',
    single,
    { clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21'] },
    ['spec.clusterIPs[0]: Invalid value: ["10.96.0.21"]: may not change once set'],
  ],
  [
    'does not let the address go (API-44)',
    single,
    { clusterIP: undefined, clusterIPs: undefined },
    ['spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset'],
  ],
  [
    'does not let a headless service get an address (API-45)',
    headless,
    {
      clusterIP: '10.96.0.21',
      clusterIPs: ['10.96.0.21'],
    },
    ['spec.clusterIPs[0]: Invalid value: ["10.96.0.21"]: may not change once set'],
  ],
  [
    'reports the address alone when the families change with it (API-45)',
    headless,
    { clusterIP: 'fd00::21', clusterIPs: ['fd00::21'], ipFamilies: ['IPv6'] },
    ['spec.clusterIPs[0]: Invalid value: ["fd00::21"]: may not change once set'],
  ],
  [
    'reports the address alone when a Service becomes headless (API-45)',
    single,
    { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv6', 'IPv4'] },
    ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
  ],
  ['lets a headless service change families (API-45)', headless, { ipFamilies: ['IPv6'] }, []],
  [
    'does not let families swap',
    dual,
    {
      clusterIP: 'fd00::20',
      clusterIPs: ['fd00::20', '10.96.0.20'],
      ipFamilies: ['IPv6', 'IPv4'],
    },
    [
      'spec.clusterIPs[0]: Invalid value: ["fd00::20","10.96.0.20"]: may not change once set',
      'spec.clusterIPs[1]: Invalid value: ["fd00::20","10.96.0.20"]: may not change once set',
      'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
      'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
    ],
  ],
  [
    'lets the second address go under SingleStack only (API-46)',
    dual,
    {
      clusterIPs: ['10.96.0.20'],
      ipFamilies: ['IPv4'],
    },
    [
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ],
  ],
  [
    'lets a second address come',
    single,
    {
      clusterIPs: ['10.96.0.20', 'fd00::20'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'PreferDualStack',
    },
    [],
  ],
  [
    'keeps the class of a load balancer (API-24)',
    balancer,
    { loadBalancerClass: undefined },
    ['spec.loadBalancerClass: Invalid value: null: may not change once set'],
  ],
  [
    'keeps the health check port while it is needed (API-36)',
    balancer,
    { healthCheckNodePort: 30101 },
    ['spec.healthCheckNodePort: Forbidden: field is immutable'],
  ],
];

for (const [name, before, changes, wanted] of cases) {
  test(`validateServiceUpdate() ${name}`, () => {
    const errors = validateServiceUpdate(before, withSpec(before, changes));
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleService } from './example.ts';
import type { ServiceSpec } from './types.ts';
import { serviceWarnings, statusWarnings } from './warnings.ts';

const cases: readonly [string, ServiceSpec, readonly string[]][] = [
  ['is silent about the example', {}, []],
  [
    'warns that external IPs are deprecated, after warnings about each address (API-62, API-64, API-66)',
    {
      externalIPs: ['2001:DB8::7'],
      trafficDistribution: 'PreferClose',
      externalName: 'x.example.com',
    },
    [
      'spec.externalIPs[0]: IPv6 address "2001:DB8::7" should be in RFC 5952 canonical format ("2001:db8::7")',
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ],
  [
    'warns about fields that a headless Service ignores (API-63)',
    {
      clusterIP: 'None',
      clusterIPs: ['None'],
      loadBalancerIP: '192.0.2.1',
      externalIPs: ['198.51.100.1'],
      sessionAffinity: 'ClientIP',
    },
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
    ],
  ],
  [
    'warns about fields that ExternalName ignores (API-64)',
    { type: 'ExternalName', externalIPs: ['198.51.100.1'] },
    ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
  ],
];

for (const [name, spec, wanted] of cases) {
  test(`serviceWarnings() ${name}`, () => {
    assert.deepEqual(serviceWarnings(exampleService({ spec })), wanted);
  });
}

test('serviceWarnings() names the annotation that replaced the old one (API-65)', () => {
  const annotations = { 'service.kubernetes.io/topology-aware-hints': 'Auto' };
  assert.deepEqual(serviceWarnings(exampleService({ metadata: { annotations } })), [
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
  ]);
});

test('statusWarnings() warns about balancer addresses that are not canonical (API-66)', () => {
  const status = { loadBalancer: { ingress: [{ ip: '2001:DB8::1' }] } };
  assert.equal(statusWarnings(exampleService({ status })).length, 1);
});

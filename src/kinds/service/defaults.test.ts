import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultService } from './defaults.ts';
import { sentService } from './example.ts';
import type { ServicePort, ServiceSpec } from './types.ts';

const port = (more: Partial<ServicePort> = {}): ServicePort => ({
  port: 80,
  targetPort: 0,
  ...more,
});

const cases: readonly [string, ServiceSpec, ServiceSpec][] = [
  [
    'makes a ClusterIP service without affinity (API-04, API-05, API-09, API-10)',
    { ports: [port()] },
    {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'takes an empty target port for the port (API-10)',
    { ports: [port({ targetPort: '', protocol: 'UDP' })] },
    {
      ports: [{ protocol: 'UDP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'drops affinity settings that nothing uses, even invalid ones (API-06)',
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: -1 } } },
    { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
  ],
  [
    'gives ClientIP affinity three hours (API-07)',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} },
    {
      type: 'ClusterIP',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'sets the external policy where traffic can come from outside (API-19)',
    { externalIPs: ['198.51.100.1'] },
    {
      type: 'ClusterIP',
      externalIPs: ['198.51.100.1'],
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'lets load balancers have node ports (API-23)',
    { type: 'LoadBalancer' },
    {
      type: 'LoadBalancer',
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'gives ExternalName no traffic policy (API-21)',
    { type: 'ExternalName', externalName: 'db.example.com' },
    { type: 'ExternalName', sessionAffinity: 'None', externalName: 'db.example.com' },
  ],
];

for (const [name, given, wanted] of cases) {
  test(`defaultService() ${name}`, () => {
    assert.deepEqual(defaultService(sentService(given)).spec, wanted);
  });
}

test('defaultService() writes the spec in schema order', () => {
  const { spec } = defaultService(
    sentService({ internalTrafficPolicy: 'Local', type: 'NodePort' }),
  );
  assert.deepEqual(Object.keys(spec), [
    'type',
    'sessionAffinity',
    'externalTrafficPolicy',
    'internalTrafficPolicy',
  ]);
});

test('defaultService() sets the mode of a balancer address by the type in the same body (STA-03)', () => {
  const status = {
    loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }] },
  };
  const modes = (type: 'LoadBalancer' | 'ClusterIP') =>
    defaultService({ ...sentService({ type }), status }).status.loadBalancer.ingress?.map(
      (entry) => entry.ipMode,
    );
  assert.deepEqual(modes('LoadBalancer'), ['VIP', undefined]);
  assert.deepEqual(modes('ClusterIP'), [undefined, undefined]);
});

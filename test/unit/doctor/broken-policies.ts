import type { BrokenCase } from './case.ts';
import { budget, node, pod, service, slice } from './example-objects.ts';

const zone = (name: string) => ({ metadata: { labels: { 'topology.kubernetes.io/zone': name } } });
const controllers = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };

export const brokenPolicies: readonly BrokenCase[] = [
  {
    name: 'policy Local inside, and one of two nodes with a pod',
    objects:
      service({ spec: { internalTrafficPolicy: 'Local' } }) + pod() + node('n1') + node('n2'),
    code: 'FL0401',
    fix: `{"internalTrafficPolicy":"Cluster"}`,
  },
  {
    name: 'policy Local outside, and one of two nodes with a pod',
    objects:
      service({ spec: { type: 'NodePort', externalTrafficPolicy: 'Local' } }) +
      pod() +
      node('n1') +
      node('n2'),
    code: 'FL0402',
  },
  {
    name: 'policy Local, and hand-made endpoints',
    objects: service({ spec: { selector: {}, internalTrafficPolicy: 'Local' } }) + slice(),
    code: 'FL0403',
  },
  {
    name: 'affinity behind a load balancer that is a proxy',
    objects:
      service({
        spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP' },
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }] } },
      }) + pod(),
    code: 'FL0404',
  },
  {
    name: 'zones on a part of the nodes',
    objects:
      service({ spec: { trafficDistribution: 'PreferSameZone' } }) +
      pod() +
      node('n1', zone('a')) +
      node('n2', zone('b')) +
      node('n3'),
    code: 'FL0405',
  },
  {
    name: 'hints on a part of the endpoints',
    objects:
      service({ spec: { selector: {} } }) +
      slice({
        endpoints: [
          { addresses: ['192.0.2.10'], hints: { forZones: [{ name: 'a' }] } },
          { addresses: ['192.0.2.11'] },
        ],
      }),
    code: 'FL0406',
  },
  {
    name: 'slices that lack a ready pod',
    objects:
      service() +
      pod() +
      slice({
        metadata: { labels: { 'kubernetes.io/service-name': 'web', ...controllers } },
        endpoints: [],
      }),
    code: 'FL0902',
  },
  {
    name: 'slices that have a pod which is gone',
    objects:
      service() +
      pod({
        status: {
          phase: 'Running',
          podIP: '10.1.0.1',
          podIPs: [{ ip: '10.1.0.1' }],
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      }) +
      slice({
        metadata: { labels: { 'kubernetes.io/service-name': 'web', ...controllers } },
        endpoints: [
          { addresses: ['10.1.0.1'], conditions: { ready: true } },
          { addresses: ['10.1.0.2'], conditions: { ready: true } },
        ],
      }),
    code: 'FL0902',
  },
  {
    name: 'a budget without anything to spare',
    objects: service() + pod() + budget({ spec: { maxUnavailable: 0 } }),
    code: 'FL0907',
  },
  {
    name: 'a budget that wants as many pods as there are',
    objects:
      service() +
      pod() +
      budget({
        spec: { minAvailable: 1 },
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      }),
    code: 'FL0907',
  },
];

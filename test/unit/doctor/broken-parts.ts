// Broken parts of the cluster itself, and what runs out.
import type { BrokenCase } from './case.ts';
import { node, ownedBy, pod, service } from './example-objects.ts';

const isReady = { conditions: [{ type: 'Ready', status: 'True' }] };
const nodes = node('n1', { status: isReady }) + node('n2', { status: isReady });

const cidr = (range: string): string =>
  `---\n${JSON.stringify({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [range] },
  })}\n`;

const many = (count: number, of: (at: number) => object): string =>
  Array.from({ length: count }, (_one, at) =>
    service({
      metadata: { name: `s${at}` },
      spec: { selector: undefined, type: 'ExternalName', externalName: 'a.example.com', ...of(at) },
    }),
  ).join('');

const waiting = (annotations: object) =>
  service({
    metadata: { annotations },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: {} },
  }) + pod();

export const brokenParts: readonly BrokenCase[] = [
  {
    name: 'the proxy of a node that crashes',
    objects:
      nodes +
      pod({
        metadata: {
          name: 'kube-proxy-x',
          namespace: 'kube-system',
          labels: { 'k8s-app': 'kube-proxy' },
          ...ownedBy('DaemonSet', 'kube-proxy'),
        },
        spec: { nodeName: 'n2' },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
      }),
    code: 'FL0905',
    says: 'node n2',
  },
  {
    name: 'a range of cluster IPs without a free address',
    objects:
      cidr('10.0.0.0/29') +
      many(6, (at) => ({
        type: 'ClusterIP',
        externalName: undefined,
        clusterIP: `10.0.0.${at + 1}`,
        clusterIPs: [`10.0.0.${at + 1}`],
        selector: { app: 'web' },
      })) +
      pod(),
    code: 'FL0904',
    says: '6 of the 6 addresses',
  },
  {
    name: 'the annotation of another cloud, and no address',
    objects:
      node('n1', { spec: { providerID: 'azure:///subscriptions/1' }, status: isReady }) +
      waiting({ 'service.beta.kubernetes.io/aws-load-balancer-scheme': 'internal' }),
    code: 'FL0601',
    also: ['FL0612'],
  },
];

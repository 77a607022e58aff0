import { isExternallyAccessible } from '../../kinds/service/needs.ts';
import type { ServiceCheck } from '../check.ts';
import { clientNodes } from '../nodes.ts';
import { countText, listText, objectName } from '../object-names.ts';
import { portsSeenBy } from '../port-endpoints.ts';

export const externalPolicyLocal: ServiceCheck = {
  code: 'FL0402',
  severity: 'warning',
  title: 'Policy Local outside, and nodes without an endpoint',
  scope: 'service',
  needs: ['services', 'endpointSlices', 'nodes'],
  find(subject) {
    const { service, index } = subject;
    const { externalTrafficPolicy, type, healthCheckNodePort } = service.spec;
    if (externalTrafficPolicy !== 'Local' || !isExternallyAccessible(service)) return [];
    if (!subject.endpoints().some(({ isReady }) => isReady)) return [];
    const nodes = clientNodes(index).map(({ metadata }) => metadata.name ?? '');
    const empty = nodes.filter((node) =>
      portsSeenBy(subject, node).some(
        ({ hasEndpoints, localEndpoints }) => hasEndpoints && localEndpoints.length === 0,
      ),
    );
    // Where the pods will be, manifests without nodes do not say.
    if (empty.length === 0 || subject.cluster.manifests?.hasMadeUpNodes === true) return [];
    const target = objectName(service);
    // Load balancers learn by the health check which nodes have endpoints.
    const isAvoided = type === 'LoadBalancer' && (healthCheckNodePort ?? 0) > 0;
    const effect = isAvoided
      ? 'get no traffic from a load balancer that does health checks'
      : 'drop connections from outside';
    return [
      {
        severity: isAvoided ? 'info' : 'warning',
        message: `externalTrafficPolicy is Local, and ${empty.length} of ${countText(nodes.length, 'node')} ${effect}, because the endpoints are on others: ${listText(empty)}`,
        evidence: [
          { object: target, field: 'spec.externalTrafficPolicy', value: 'Local' },
          ...empty.slice(0, 3).map((name) => ({
            object: { kind: 'Node', name },
            field: 'endpoints on the node',
            value: '0',
          })),
        ],
        fix: {
          sentence:
            'Use nodes with endpoints only, or the policy Cluster, with which pods no longer see the addresses of clients',
          patch: { target, type: 'merge', body: { spec: { externalTrafficPolicy: 'Cluster' } } },
        },
      },
    ];
  },
};

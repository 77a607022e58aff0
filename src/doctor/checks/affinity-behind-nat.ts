import { mayHaveNodePorts } from '../../kinds/service/needs.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const affinityBehindNat: ServiceCheck = {
  code: 'FL0404',
  severity: 'warning',
  title: 'Session affinity does not see the clients',
  scope: 'service',
  needs: ['services'],
  find({ service }) {
    const { sessionAffinity, externalTrafficPolicy } = service.spec;
    if (sessionAffinity !== 'ClientIP') return [];
    const target = objectName(service);
    const affinity = { object: target, field: 'spec.sessionAffinity', value: 'ClientIP' };
    const ingress = service.status.loadBalancer?.ingress ?? [];
    if (ingress.some(({ ipMode }) => ipMode === 'Proxy')) {
      return [
        {
          message:
            'sessionAffinity is ClientIP, but the load balancer is a proxy (ipMode Proxy): all connections through it have its address, so they all go to one endpoint',
          evidence: [
            affinity,
            { object: target, field: 'status.loadBalancer.ingress[*].ipMode', value: 'Proxy' },
          ],
          fix: { sentence: 'Let the load balancer keep sessions together, by cookies for example' },
        },
      ];
    }
    if (!mayHaveNodePorts(service) || externalTrafficPolicy === 'Local') return [];
    return [
      {
        severity: 'info',
        message:
          'sessionAffinity is ClientIP, and each node remembers clients for itself: a client that comes through another node, or from behind NAT, gets another endpoint or shares one',
        evidence: [
          affinity,
          {
            object: target,
            field: 'spec.externalTrafficPolicy',
            value: externalTrafficPolicy ?? 'Cluster',
          },
        ],
      },
    ];
  },
};

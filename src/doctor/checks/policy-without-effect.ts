import { isExternallyAccessible, isHeadless } from '../../kinds/service/needs.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const policyWithoutEffect: ServiceCheck = {
  code: 'FL0407',
  severity: 'info',
  title: 'A traffic setting has no effect',
  scope: 'service',
  needs: ['services'],
  find: (subject) => (isHeadless(subject.service) ? onHeadless(subject) : besideLocal(subject)),
};

/** Clients of a headless Service connect to pods, past all proxies. */
function onHeadless({ service }: ServiceSubject): readonly Symptom[] {
  const { sessionAffinity, trafficDistribution, internalTrafficPolicy } = service.spec;
  const fields = {
    ...(sessionAffinity === 'ClientIP' ? { sessionAffinity } : {}),
    ...(internalTrafficPolicy === 'Local' ? { internalTrafficPolicy } : {}),
    ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
  };
  return Object.entries(fields).map(([field, value]) => ({
    message: `${field} is ${value}, but the Service is headless: clients connect to the pods themselves`,
    evidence: [{ object: objectName(service), field: `spec.${field}`, value }],
  }));
}

function besideLocal({ service }: ServiceSubject): readonly Symptom[] {
  const { trafficDistribution, internalTrafficPolicy } = service.spec;
  if (trafficDistribution === undefined || internalTrafficPolicy !== 'Local') return [];
  if (isExternallyAccessible(service)) return [];
  return [
    {
      message: `trafficDistribution is ${trafficDistribution}, but internalTrafficPolicy is Local: only endpoints on the client's node are used in any case`,
      evidence: [
        {
          object: objectName(service),
          field: 'spec.trafficDistribution',
          value: trafficDistribution,
        },
        { object: objectName(service), field: 'spec.internalTrafficPolicy', value: 'Local' },
      ],
      fix: {
        sentence:
          'PreferSameNode alone keeps connections on the node where it can, and does not drop them where it cannot',
        patch: {
          target: objectName(service),
          type: 'merge',
          body: {
            spec: { internalTrafficPolicy: 'Cluster', trafficDistribution: 'PreferSameNode' },
          },
        },
      },
    },
  ];
}

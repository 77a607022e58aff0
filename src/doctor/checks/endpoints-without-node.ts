import { isExternallyAccessible } from '../../kinds/service/needs.ts';
import type { ServiceCheck } from '../check.ts';
import { countText, listText, objectName } from '../object-names.ts';

export const endpointsWithoutNode: ServiceCheck = {
  code: 'FL0403',
  severity: 'error',
  title: 'Policy Local, and endpoints without a node',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  explains: ['FL0401', 'FL0402'],
  find(subject) {
    const { service } = subject;
    const { internalTrafficPolicy, externalTrafficPolicy } = service.spec;
    const isOutside = externalTrafficPolicy === 'Local' && isExternallyAccessible(service);
    const isInside = internalTrafficPolicy === 'Local' && subject.hasClusterIP;
    if (!isInside && !isOutside) return [];
    const ready = subject.endpoints().filter(({ isReady }) => isReady);
    const without = ready.filter(({ endpoint }) => !endpoint.nodeName);
    const [first] = without;
    if (first === undefined) return [];
    const policy = isInside ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
    const addresses = listText(without.map(({ address }) => address));
    return [
      {
        severity: without.length === ready.length ? 'error' : 'warning',
        message: `${policy} is Local, but ${without.length} of ${countText(ready.length, 'endpoint')} name no node (${addresses}), so they are local nowhere and get no connections`,
        evidence: [
          { object: objectName(service), field: `spec.${policy}`, value: 'Local' },
          { object: objectName(first.slice), field: 'endpoints[*].nodeName', value: '(absent)' },
        ],
        fix: {
          sentence: 'Write nodeName into the slices, or use the policy Cluster',
          patch: {
            target: objectName(service),
            type: 'merge',
            body: { spec: { [policy]: 'Cluster' } },
          },
        },
      },
    ];
  },
};

import { familyOf } from '../../ip/address.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const externalNameIsAddress: ServiceCheck = {
  code: 'FL0501',
  severity: 'error',
  title: 'An ExternalName is an IP address',
  scope: 'service',
  needs: ['services'],
  explains: ['FL05'],
  find({ service }) {
    const { type, externalName = '' } = service.spec;
    if (type !== 'ExternalName' || familyOf(externalName) === undefined) return [];
    const object = objectName(service);
    return [
      {
        message: `externalName is the address ${externalName}: DNS answers with an alias to a domain of that name, which does not exist`,
        evidence: [{ object, field: 'spec.externalName', value: externalName }],
        fix: {
          sentence:
            'Use a Service without a selector, and an EndpointSlice with the address and the label kubernetes.io/service-name',
        },
      },
    ];
  },
};

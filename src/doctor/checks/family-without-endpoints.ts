import { familyOf } from '../../ip/address.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const familyWithoutEndpoints: ServiceCheck = {
  code: 'FL0606',
  severity: 'error',
  title: 'An address family of the Service has no endpoints',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  explains: ['FL03', 'FL04'],
  find(subject) {
    const { service, hasClusterIP } = subject;
    const ready = subject.endpoints().filter(({ isReady }) => isReady);
    if (!hasClusterIP || ready.length === 0) return [];
    const ips = service.spec.clusterIPs ?? [service.spec.clusterIP ?? ''];
    const served = new Set(ready.map(({ slice }) => slice.addressType));
    const object = objectName(service);
    return ips.flatMap((ip, at) => {
      const family = familyOf(ip);
      if (family === undefined || served.has(family)) return [];
      const others = [...served].join(' and ');
      return [
        {
          message: `Connections to ${ip} are refused: no endpoint has an ${family} address, the endpoints have ${others}`,
          evidence: [
            { object, field: `spec.clusterIPs[${at}]`, value: ip },
            {
              object: objectName(ready[0]?.slice ?? service),
              field: 'addressType',
              value: others,
            },
          ],
          fix: {
            sentence:
              ips.length > 1
                ? `Give the pods ${family} addresses, or make the Service single-stack`
                : `Create the Service again with ipFamilies: [${others.split(' ')[0]}]: the family cannot be changed`,
            ...(ips.length > 1 && at === 1
              ? {
                  patch: {
                    target: object,
                    type: 'merge',
                    body: { spec: { ipFamilyPolicy: 'SingleStack' } },
                  } as const,
                }
              : {}),
          },
        },
      ];
    });
  },
};

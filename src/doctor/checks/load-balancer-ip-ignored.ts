import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const loadBalancerIPIgnored: ServiceCheck = {
  code: 'FL0609',
  severity: 'warning',
  title: 'The load balancer has another address than the one requested',
  scope: 'service',
  needs: ['services'],
  isLiveOnly: true,
  find({ service }) {
    const { loadBalancerIP = '', type } = service.spec;
    const ingress = service.status?.loadBalancer?.ingress ?? [];
    if (type !== 'LoadBalancer' || loadBalancerIP === '' || ingress.length === 0) return [];
    const given = ingress.map(({ ip, hostname }) => ip ?? hostname ?? '');
    if (given.some((one) => canonical(one) === canonical(loadBalancerIP))) return [];
    const object = objectName(service);
    return [
      {
        message: `The Service requests the address ${loadBalancerIP}, and its load balancer has ${listText(given)}: not every provider honours the field`,
        evidence: [
          { object, field: 'spec.loadBalancerIP', value: loadBalancerIP },
          { object, field: 'status.loadBalancer.ingress', value: given.join(',') },
        ],
        fix: { sentence: "Use the provider's annotation for addresses, or remove the field" },
      },
    ];
  },
};

function canonical(text: string): string {
  const address = parseAddressSloppy(text);
  return address === undefined ? text : formatAddress(address);
}

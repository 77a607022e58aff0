// Removes the addresses that have other owners from those that a Service names.
import type { OwnerLookup } from '../../kinds/service/address-owners.ts';
import type { PortRequest } from './service-ports.ts';

/** The field of the Service that names the address. */
export type NamedBy = 'externalIP' | 'loadBalancer';

/** An address that a Service names and that is not captured for it. */
export type RefusedAddress = {
  readonly by: NamedBy;
  readonly ip: string;
  readonly why: string;
};

export type OwnAddresses = {
  readonly requests: readonly PortRequest[];
  readonly refused: readonly RefusedAddress[];
};

export function ownAddresses(requests: readonly PortRequest[], ownerOf: OwnerLookup): OwnAddresses {
  const refused = new Map<string, RefusedAddress>();
  const keepOwn = (by: NamedBy, ips: readonly string[]): readonly string[] => {
    const own = ips.filter((ip) => {
      const why = ownerOf(ip);
      if (why !== undefined) refused.set(`${by} ${ip}`, { by, ip, why });
      return why === undefined;
    });
    return own.length === ips.length ? ips : own;
  };
  return {
    requests: requests.map((request) => ({
      ...request,
      externalIPs: keepOwn('externalIP', request.externalIPs),
      loadBalancerIPs: keepOwn('loadBalancer', request.loadBalancerIPs),
    })),
    refused: [...refused.values()],
  };
}

export const namesAddresses = ({ externalIPs, loadBalancerIPs }: PortRequest): boolean =>
  externalIPs.length + loadBalancerIPs.length > 0;

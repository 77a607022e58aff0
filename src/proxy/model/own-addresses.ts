// What is left of the addresses that a Service names when those are taken away that others own.
import type { OwnerLookup } from '../../kinds/service/address-owners.ts';
import type { PortRequest } from './service-ports.ts';

/** What of a Service names the address. */
export type NamedBy = 'externalIP' | 'loadBalancer';

/** An address that a Service names and does not get. */
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
  const kept = (by: NamedBy, ips: readonly string[]): readonly string[] => {
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
      externalIPs: kept('externalIP', request.externalIPs),
      loadBalancerIPs: kept('loadBalancer', request.loadBalancerIPs),
    })),
    refused: [...refused.values()],
  };
}

export const namesAddresses = ({ externalIPs, loadBalancerIPs }: PortRequest): boolean =>
  externalIPs.length + loadBalancerIPs.length > 0;

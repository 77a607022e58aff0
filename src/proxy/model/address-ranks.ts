// Which Services name an address, and as what. The address of a load balancer belongs to its Service on every port, even if an older
// Service names it as an external IP.

export type AddressRank = 'loadBalancer' | 'externalIP';

export type AddressRanks = {
  /** Returns the keys of ports that may gain or lose the address. */
  readonly add: (claimant: RankedClaimant, ip: string) => readonly string[];
  readonly remove: (portKey: string, ip: string) => readonly string[];
  /** The Service of the load balancer with this address; undefined if it is this Service or there is none. */
  readonly balancerOf: (service: string, ip: string) => string | undefined;
};

export type RankedClaimant = {
  readonly portKey: string;
  /** `namespace/name` */
  readonly service: string;
  readonly rank: AddressRank;
};

export function createAddressRanks(): AddressRanks {
  const claimed = new Map<string, readonly RankedClaimant[]>();
  const replace = (ip: string, list: readonly RankedClaimant[]): void => {
    if (list.length === 0) claimed.delete(ip);
    else claimed.set(ip, list);
  };
  const external = (ip: string): readonly string[] =>
    (claimed.get(ip) ?? [])
      .filter(({ rank }) => rank === 'externalIP')
      .map(({ portKey }) => portKey);
  const remove = (portKey: string, ip: string): readonly string[] => {
    const list = claimed.get(ip) ?? [];
    const known = list.find((one) => one.portKey === portKey);
    if (known === undefined) return [];
    replace(
      ip,
      list.filter((one) => one !== known),
    );
    return known.rank === 'loadBalancer' ? external(ip) : [];
  };
  return {
    add(claimant, ip) {
      const lost = remove(claimant.portKey, ip);
      replace(ip, [...(claimed.get(ip) ?? []), claimant]);
      return claimant.rank === 'loadBalancer' ? external(ip) : lost;
    },
    remove,
    balancerOf(service, ip) {
      const list = claimed.get(ip) ?? [];
      const balancers = list.filter(({ rank }) => rank === 'loadBalancer');
      return balancers.some((one) => one.service === service) ? undefined : balancers[0]?.service;
    },
  };
}

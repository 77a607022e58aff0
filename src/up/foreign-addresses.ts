// Addresses of an isolated network that no Service takes by naming them: relays leave them alone, as the proxies inside do.
import { type Cidr, formatCidr } from '../ip/cidr.ts';
import { createOwnerLookup } from '../kinds/service/address-owners.ts';

export type NetworkOwners = {
  readonly serviceRanges: readonly Cidr[];
  readonly podRanges: readonly Cidr[];
  readonly nodes: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  readonly serverAddress: string;
};

export function foreignAddresses(owners: NetworkOwners): (ip: string) => boolean {
  const server = { name: 'of the API server', addresses: [owners.serverAddress] };
  const ownerOf = createOwnerLookup(
    {
      serviceRanges: owners.serviceRanges.map(formatCidr),
      podRanges: owners.podRanges.map(formatCidr),
      nodes: [...owners.nodes, server].flatMap(({ name, addresses }) =>
        addresses.map((ip) => [ip, name] as const),
      ),
    },
    () => undefined,
  );
  return (ip) => ownerOf(ip) !== undefined;
}

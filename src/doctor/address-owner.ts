// Who owns an address, by the rule that proxies use.
import { familyOf } from '../ip/address.ts';
import { rangesOfFamily } from '../ip/family-address.ts';
import {
  apiServerOwns,
  createOwnerLookup,
  makeOwners,
  type OwnerLookup,
} from '../kinds/service/address-owners.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

const known = new WeakMap<SnapshotIndex, OwnerLookup>();

export function ownerLookup(index: SnapshotIndex): OwnerLookup {
  const found = known.get(index) ?? makeLookup(index);
  known.set(index, found);
  return found;
}

function makeLookup(index: SnapshotIndex): OwnerLookup {
  const { nodes } = index.snapshot.objects;
  const lookups = (['IPv4', 'IPv6'] as const).map((family) => {
    const owners = makeOwners({
      family,
      nodeName: '',
      nodes,
      interfaceAddresses: [],
      serviceRanges: rangesOfFamily(serviceRanges(index), family),
      clusterCIDRs: [],
    });
    return { family, ownerOf: createOwnerLookup(owners, (ip) => endpointOwner(index, ip)) };
  });
  return (ip) => lookups.find(({ family }) => family === familyOf(ip))?.ownerOf(ip);
}

/** Of cluster IPs. */
export function serviceRanges({ snapshot }: SnapshotIndex): readonly string[] {
  return snapshot.objects.serviceCIDRs.flatMap(({ spec }) => spec?.cidrs ?? []);
}

function endpointOwner(index: SnapshotIndex, ip: string): string | undefined {
  const servers = index.slicesOf('default', 'kubernetes');
  const isServer = servers.some(({ endpoints }) =>
    endpoints?.some(({ addresses }) => addresses?.includes(ip)),
  );
  if (isServer) return apiServerOwns;
  const pod = index.podsAt(ip).find(({ spec }) => spec.hostNetwork !== true);
  return pod === undefined
    ? undefined
    : `it is an address of pod ${pod.metadata.namespace}/${pod.metadata.name}`;
}

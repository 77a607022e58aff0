// Addresses that no announcer answers for, whatever the status of a Service says, because neighbours would send it traffic for a node, a
// pod or the API server.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import {
  apiServerOwns,
  createOwnerLookup,
  makeOwners,
  type OwnerLookup,
} from '../../kinds/service/address-owners.ts';

export type ForeignFacts = {
  readonly nodes: readonly Node[];
  readonly apiServerSlices: readonly EndpointSlice[];
};

export function foreignAddresses({ nodes, apiServerSlices }: ForeignFacts): OwnerLookup {
  const servers = new Set(
    apiServerSlices.flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
    ),
  );
  const apiServer = (ip: string): string | undefined =>
    servers.has(ip) ? apiServerOwns : undefined;
  const lookups = (['IPv4', 'IPv6'] as const).map((family) =>
    createOwnerLookup(
      makeOwners({
        ...{ family, nodes, nodeName: '' },
        // Those are not resolved on the link of the node; the Node object lists the node's addresses.
        ...{ interfaceAddresses: [], serviceRanges: [], clusterCIDRs: [] },
      }),
      apiServer,
    ),
  );
  return (ip) => lookups.map((ownerOf) => ownerOf(ip)).find((why) => why !== undefined);
}

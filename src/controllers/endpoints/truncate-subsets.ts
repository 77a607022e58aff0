// An Endpoints object holds at most 1000 addresses. Ready ones take precedence; the cut is in proportion to the size of
// each subset.
import type { EndpointSubset } from '../../kinds/endpoints/types.ts';

/** Upstream's limit. EndpointSlices have none per Service. */
const maxAddresses = 1000;

export type TruncatedSubsets = {
  readonly subsets: readonly EndpointSubset[];
  readonly isTruncated: boolean;
};

export function truncateSubsets(subsets: readonly EndpointSubset[]): TruncatedSubsets {
  const ready = total(subsets, 'addresses');
  const notReady = total(subsets, 'notReadyAddresses');
  if (ready + notReady <= maxAddresses) return { subsets, isTruncated: false };
  const cut =
    ready > maxAddresses
      ? cutList(subsets.map(withoutNotReady), 'addresses', { of: ready, room: maxAddresses })
      : cutList(subsets, 'notReadyAddresses', { of: notReady, room: maxAddresses - ready });
  return { subsets: cut.filter(hasAddresses), isTruncated: true };
}

type List = 'addresses' | 'notReadyAddresses';

function total(subsets: readonly EndpointSubset[], list: List): number {
  return subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0);
}

/** Shares are rounded up, so the last subset may get less than its share. */
function cutList(
  subsets: readonly EndpointSubset[],
  list: List,
  { of, room }: { readonly of: number; readonly room: number },
): readonly EndpointSubset[] {
  let remaining = room;
  return subsets.map((subset) => {
    const { [list]: addresses = [], ...others } = subset;
    const cut = addresses.slice(0, Math.min(remaining, Math.ceil((addresses.length / of) * room)));
    remaining -= cut.length;
    return cut.length === 0 ? others : { ...others, [list]: cut };
  });
}

function withoutNotReady({ notReadyAddresses: _, ...subset }: EndpointSubset): EndpointSubset {
  return subset;
}

function hasAddresses({ addresses = [], notReadyAddresses = [] }: EndpointSubset): boolean {
  return addresses.length + notReadyAddresses.length > 0;
}

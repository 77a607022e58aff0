// Packs the endpoints of one port group into slices with few writes: endpoints stay in their slice, slices that are
// written anyway are filled first, and none is moved only to fill a slice. Upstream: the reconciler of
// k8s.io/endpointslice.
import { endpointIdentity, isUnchanged } from '../../kinds/endpoint-slice/same-endpoint.ts';
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Labels } from '../../meta/labels.ts';
import { deepEqual } from '../../schema/equality.ts';

export type SlicePlan = {
  readonly unchanged: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly create: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
};

export type PackInput = {
  /** The slices of this group. */
  readonly existing: readonly EndpointSlice[];
  /** The desired endpoints by identity. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly labels: Labels;
  readonly maxPerSlice: number;
  readonly newSlice: (endpoints: readonly Endpoint[]) => EndpointSlice;
};

export function packGroup({
  existing,
  endpoints,
  labels,
  maxPerSlice,
  newSlice,
}: PackInput): SlicePlan {
  const retained = retainEndpoints(existing, endpoints, labels);
  const unassigned = [...endpoints].flatMap(([id, endpoint]) =>
    retained.assigned.has(id) ? [] : [endpoint],
  );
  const filled = fillFullestFirst(retained.update, unassigned, maxPerSlice);
  const { create, rest } = fillNewSlices(retained.unchanged, filled.rest, {
    maxPerSlice,
    newSlice,
  });
  const extended =
    rest.length === 0 ? undefined : bestFit(retained.unchanged, rest.length, maxPerSlice);
  return {
    unchanged: retained.unchanged.filter((slice) => slice !== extended),
    update: extended === undefined ? filled.slices : [...filled.slices, withMore(extended, rest)],
    create,
    delete: retained.delete,
  };
}

type Retained = Pick<SlicePlan, 'unchanged' | 'update' | 'delete'> & {
  readonly assigned: ReadonlySet<string>;
};

/** Removes endpoints that are not desired and updates changed ones; a slice that becomes empty is deleted. */
function retainEndpoints(
  existing: readonly EndpointSlice[],
  endpoints: ReadonlyMap<string, Endpoint>,
  labels: Labels,
): Retained {
  const assigned = new Set<string>();
  const unchanged: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  const emptied: EndpointSlice[] = [];
  for (const slice of existing) {
    const { endpointsLeft, isSame } = retainedIn(slice, endpoints, assigned);
    if (!isSame && endpointsLeft.length === 0) emptied.push(slice);
    else if (!isSame) update.push(relabelled({ ...slice, endpoints: endpointsLeft }, labels));
    else if (deepEqual(slice.metadata.labels ?? {}, labels)) unchanged.push(slice);
    else update.push(relabelled(slice, labels));
  }
  return { unchanged, update, delete: emptied, assigned };
}

/** An endpoint in two slices stays in the first one. */
function retainedIn(
  slice: EndpointSlice,
  endpoints: ReadonlyMap<string, Endpoint>,
  assigned: Set<string>,
): { readonly endpointsLeft: readonly Endpoint[]; readonly isSame: boolean } {
  const present = slice.endpoints ?? [];
  const endpointsLeft: Endpoint[] = [];
  let isSame = true;
  for (const before of present) {
    const id = endpointIdentity(before);
    const after = assigned.has(id) ? undefined : endpoints.get(id);
    if (after === undefined) continue;
    assigned.add(id);
    endpointsLeft.push(after);
    isSame &&= isUnchanged(before, after);
  }
  return { endpointsLeft, isSame: isSame && endpointsLeft.length === present.length };
}

function relabelled(slice: EndpointSlice, labels: Labels): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

function withMore(slice: EndpointSlice, more: readonly Endpoint[]): EndpointSlice {
  return more.length === 0 ? slice : { ...slice, endpoints: [...(slice.endpoints ?? []), ...more] };
}

const sizeOf = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0;

type Filled = { readonly slices: readonly EndpointSlice[]; readonly rest: readonly Endpoint[] };

function fillFullestFirst(
  slices: readonly EndpointSlice[],
  endpoints: readonly Endpoint[],
  maxPerSlice: number,
): Filled {
  let rest = endpoints;
  const filled = [...slices]
    .sort((a, b) => sizeOf(b) - sizeOf(a))
    .map((slice) => {
      const more = rest.slice(0, Math.max(0, maxPerSlice - sizeOf(slice)));
      rest = rest.slice(more.length);
      return withMore(slice, more);
    });
  return { slices: filled, rest };
}

type NewSlices = Pick<PackInput, 'maxPerSlice' | 'newSlice'>;

/** New slices for the endpoints that no unchanged slice has room for; what remains fits into one unchanged slice. */
function fillNewSlices(
  unchanged: readonly EndpointSlice[],
  endpoints: readonly Endpoint[],
  { maxPerSlice, newSlice }: NewSlices,
): { readonly create: readonly EndpointSlice[]; readonly rest: readonly Endpoint[] } {
  const create: EndpointSlice[] = [];
  let rest = endpoints;
  while (rest.length > 0 && bestFit(unchanged, rest.length, maxPerSlice) === undefined) {
    create.push(newSlice(rest.slice(0, maxPerSlice)));
    rest = rest.slice(maxPerSlice);
  }
  return { create, rest };
}

/** The fullest slice with room for `count` more endpoints; a full slice's worth always gets a new slice. */
function bestFit(
  slices: readonly EndpointSlice[],
  count: number,
  maxPerSlice: number,
): EndpointSlice | undefined {
  if (count >= maxPerSlice) return undefined;
  let best: EndpointSlice | undefined;
  for (const slice of slices) {
    if (sizeOf(slice) + count > maxPerSlice) continue;
    if (best === undefined || sizeOf(slice) > sizeOf(best)) best = slice;
  }
  return best;
}

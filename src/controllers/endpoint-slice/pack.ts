// Puts the endpoints of one port group into slices with few writes: what is in place stays there, slices that have
// to be written anyway are filled first, and nothing is moved only to make slices fuller. Upstream: the reconciler of
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
  /** The slices that hold this group now. */
  readonly existing: readonly EndpointSlice[];
  /** The wanted endpoints by identity. */
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
  const kept = keepWhatIsInPlace(existing, endpoints, labels);
  const unplaced = [...endpoints].flatMap(([id, endpoint]) =>
    kept.placed.has(id) ? [] : [endpoint],
  );
  const filled = fillFullestFirst(kept.update, unplaced, maxPerSlice);
  const { create, rest } = fillNewSlices(kept.unchanged, filled.rest, { maxPerSlice, newSlice });
  const host = rest.length === 0 ? undefined : bestFit(kept.unchanged, rest.length, maxPerSlice);
  return {
    unchanged: kept.unchanged.filter((slice) => slice !== host),
    update: host === undefined ? filled.slices : [...filled.slices, grown(host, rest)],
    create,
    delete: kept.delete,
  };
}

type Kept = Pick<SlicePlan, 'unchanged' | 'update' | 'delete'> & {
  readonly placed: ReadonlySet<string>;
};

/** Undesired endpoints leave their slices, changed ones are refreshed; a slice that loses all of them goes. */
function keepWhatIsInPlace(
  existing: readonly EndpointSlice[],
  endpoints: ReadonlyMap<string, Endpoint>,
  labels: Labels,
): Kept {
  const placed = new Set<string>();
  const unchanged: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  const gone: EndpointSlice[] = [];
  for (const slice of existing) {
    const { staying, isSame } = stayingIn(slice, endpoints, placed);
    if (!isSame && staying.length === 0) gone.push(slice);
    else if (!isSame) update.push(relabelled({ ...slice, endpoints: staying }, labels));
    else if (deepEqual(slice.metadata.labels ?? {}, labels)) unchanged.push(slice);
    else update.push(relabelled(slice, labels));
  }
  return { unchanged, update, delete: gone, placed };
}

/** An endpoint that stands in two slices stays in the first. */
function stayingIn(
  slice: EndpointSlice,
  endpoints: ReadonlyMap<string, Endpoint>,
  placed: Set<string>,
): { readonly staying: readonly Endpoint[]; readonly isSame: boolean } {
  const present = slice.endpoints ?? [];
  const staying: Endpoint[] = [];
  let isSame = true;
  for (const before of present) {
    const id = endpointIdentity(before);
    const after = placed.has(id) ? undefined : endpoints.get(id);
    if (after === undefined) continue;
    placed.add(id);
    staying.push(after);
    isSame &&= isUnchanged(before, after);
  }
  return { staying, isSame: isSame && staying.length === present.length };
}

function relabelled(slice: EndpointSlice, labels: Labels): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

function grown(slice: EndpointSlice, more: readonly Endpoint[]): EndpointSlice {
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
      return grown(slice, more);
    });
  return { slices: filled, rest };
}

type NewSlices = Pick<PackInput, 'maxPerSlice' | 'newSlice'>;

/** New slices for what fits into no slice that could stay as it is; the rest fits into one of those whole. */
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

/** The slice that so many more endpoints bring closest to full. A full load never goes into an existing slice. */
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

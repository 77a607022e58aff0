// Puts hints on the endpoints of planned slices.
import type { Endpoint, EndpointHints, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { SlicePlan } from './pack.ts';

/** Slices whose hints change move from `unchanged` to `update`. */
export function hintEach(
  plan: SlicePlan,
  hintsFor: (endpoint: Endpoint) => EndpointHints | undefined,
): SlicePlan {
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: slice.endpoints?.map((endpoint) => withHints(endpoint, hintsFor(endpoint))) ?? null,
  });
  const stays = (slice: EndpointSlice): boolean =>
    (slice.endpoints ?? []).every((endpoint) => deepEqual(endpoint.hints, hintsFor(endpoint)));
  return {
    unchanged: plan.unchanged.filter(stays),
    update: [...plan.update, ...plan.unchanged.filter((slice) => !stays(slice))].map(hinted),
    create: plan.create.map(hinted),
    delete: plan.delete,
  };
}

export function withHints(endpoint: Endpoint, hints: EndpointHints | undefined): Endpoint {
  const { hints: _, ...others } = endpoint;
  return hints === undefined ? others : { ...others, hints };
}

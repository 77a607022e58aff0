import { deepEqual } from '../../schema/equality.ts';
import type { EndpointSlice } from './types.ts';

export function defaultSlice(slice: EndpointSlice): EndpointSlice {
  const { ports } = slice;
  if (!ports) return slice;
  return {
    ...slice,
    ports: ports.map(({ name = '', protocol = 'TCP', ...rest }) => ({ name, protocol, ...rest })),
  };
}

/** The deprecated topology of v1beta1 can be read but not written. */
export function prepareSlice(slice: EndpointSlice): EndpointSlice {
  const { endpoints } = slice;
  if (!endpoints?.some((endpoint) => endpoint.deprecatedTopology !== undefined)) return slice;
  return {
    ...slice,
    endpoints: endpoints.map(({ deprecatedTopology: _dropped, ...endpoint }) => endpoint),
  };
}

/** A change of labels increments the generation, because the slices of a Service are found by labels. */
export function sliceGenerationChanges(before: EndpointSlice, after: EndpointSlice): boolean {
  return !deepEqual(content(before), content(after));
}

function content({ metadata, addressType, endpoints, ports }: EndpointSlice): unknown {
  return {
    labels: metadata.labels ?? {},
    addressType,
    endpoints: endpoints ?? [],
    ports: ports ?? [],
  };
}

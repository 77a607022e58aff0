// What a Service and its EndpointSlices are now and were, by revision: to say what a part serves that is behind.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Revisions } from '../../kinds/part/position.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import type { Cached, Change } from '../cache/resource-cache.ts';
import type { Resources } from '../cache/resources.ts';

export type ServiceHistory = {
  /** The newest of each. */
  readonly now: Revisions;
  /** What a part has in effect that has come so far; undefined where the history does not reach back. */
  readonly at: (applied: Revisions) => Served | undefined;
};

export type Served = {
  /** Undefined: nothing of it. */
  readonly revision?: number;
  /** How many changes came after that. */
  readonly missing: number;
};

type Name = { readonly namespace: string; readonly name: string };

export function serviceHistory(resources: Resources, { namespace, name }: Name): ServiceHistory {
  const [services, slices] = [resources.of('services'), resources.of(sliceResource)];
  const serviceKey = services.codec.key(namespace, name);
  const slicePrefix = slices.codec.key(namespace, '');
  const isService = ({ key }: Cached): boolean => key === serviceKey;
  const isSlice = ({ key, object }: Cached): boolean =>
    key.startsWith(slicePrefix) &&
    (object as EndpointSlice).metadata.labels?.[serviceNameLabel] === name;
  const service = services.cache.get(serviceKey);
  const own = slices.cache.list(slicePrefix).filter(isSlice);
  return {
    now: { services: service?.revision ?? 0, slices: newest(own) },
    at(applied) {
      const ofService = services.cache.changesAfter(applied.services);
      const ofSlices = slices.cache.changesAfter(applied.slices);
      if (ofService === undefined || ofSlices === undefined) return undefined;
      const missed = [
        ...ofService.filter(({ current }) => isService(current)),
        ...ofSlices.filter(({ current }) => isSlice(current)),
      ];
      const present = [...(service === undefined ? [] : [service]), ...own];
      const revision = newest(statesBefore(missed, present));
      return { missing: missed.length, ...(revision === 0 ? {} : { revision }) };
    },
  };
}

const sliceResource = 'endpointslices.discovery.k8s.io';

const newest = (states: readonly Cached[]): number =>
  Math.max(0, ...states.map(({ revision }) => revision));

/** What each object was before the changes. */
function statesBefore(changes: readonly Change[], present: readonly Cached[]): readonly Cached[] {
  const before = new Map(present.map((state): [string, Cached | undefined] => [state.key, state]));
  for (const { current, previous } of [...changes].reverse()) before.set(current.key, previous);
  return [...before.values()].flatMap((state) => state ?? []);
}

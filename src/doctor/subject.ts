// What checks get: the cluster, and a Service with what belongs to it. Everything is found when it is first needed.

import { isReady, isServing, isTerminating } from '../kinds/endpoint-slice/conditions.ts';
import type { EndpointSlice, Endpoint as SliceEndpoint } from '../kinds/endpoint-slice/types.ts';
import type { Propagation } from '../kinds/part/propagation.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { hasClusterIP, hasSelectedPods } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import type { ClusterSettings } from '../snapshot/cluster-settings.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { type LabelSet, labelSetsIn } from './label-sets.ts';
import type { ManifestFacts } from './manifest-facts.ts';

export type Cluster = {
  readonly index: SnapshotIndex;
  readonly settings: ClusterSettings;
  /** False for manifests: there are no events, and nothing has a status of its own. */
  readonly isLive: boolean;
  /** How far the newest change has come, where the parts of the cluster say so. */
  readonly propagation?: Propagation;
  /** Of manifests only. */
  readonly manifests?: ManifestFacts;
  readonly nowMs: number;
  /** The Services in question; checks may compare them with all others. */
  readonly services: readonly Service[];
  readonly isInScope: (namespace: string) => boolean;
  readonly labelSetsIn: (namespace: string) => readonly LabelSet[];
  /** What `make` makes of the cluster, made once: for indexes that one check needs for every Service. */
  readonly once: <T>(make: (cluster: Cluster) => T) => T;
};

export function createCluster(parts: Omit<Cluster, 'labelSetsIn' | 'once'>): Cluster {
  const sets = new Map<string, readonly LabelSet[]>();
  const made = new Map<unknown, unknown>();
  const cluster: Cluster = {
    ...parts,
    labelSetsIn(namespace) {
      const known = sets.get(namespace) ?? labelSetsIn(parts.index, namespace);
      sets.set(namespace, known);
      return known;
    },
    once<T>(make: (all: Cluster) => T): T {
      if (!made.has(make)) made.set(make, make(cluster));
      return made.get(make) as T;
    },
  };
  return cluster;
}

/** An endpoint of a slice, with its conditions filled in. */
export type SubjectEndpoint = {
  readonly slice: EndpointSlice;
  readonly endpoint: SliceEndpoint;
  readonly address: string;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
};

export type ServiceSubject = {
  readonly cluster: Cluster;
  readonly index: SnapshotIndex;
  readonly settings: ClusterSettings;
  readonly service: Service;
  readonly namespace: string;
  readonly name: string;
  /** Whether controllers look after its endpoints. */
  readonly hasSelector: boolean;
  readonly hasClusterIP: boolean;
  /** Pods that the selector matches, in any state. */
  readonly pods: () => readonly Pod[];
  readonly slices: () => readonly EndpointSlice[];
  readonly endpoints: () => readonly SubjectEndpoint[];
};

export function serviceSubject(cluster: Cluster, service: Service): ServiceSubject {
  const { index, settings } = cluster;
  const { namespace = '', name = '' } = service.metadata;
  const hasSelector = hasSelectedPods(service);
  const selector = service.spec.selector ?? {};
  const slices = onFirstUse(() => index.slicesOf(namespace, name));
  return {
    cluster,
    index,
    settings,
    service,
    namespace,
    name,
    hasSelector,
    hasClusterIP: hasClusterIP(service),
    pods: onFirstUse(() => (hasSelector ? index.podsWith(namespace, selector) : [])),
    slices,
    endpoints: onFirstUse(() => slices().flatMap(endpointsOf)),
  };
}

function endpointsOf(slice: EndpointSlice): readonly SubjectEndpoint[] {
  return (slice.endpoints ?? []).map((endpoint) => {
    const { conditions = {}, addresses } = endpoint;
    return {
      slice,
      endpoint,
      // Others have no defined meaning.
      address: addresses?.[0] ?? '',
      isReady: isReady(conditions),
      isServing: isServing(conditions),
      isTerminating: isTerminating(conditions),
    };
  });
}

function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

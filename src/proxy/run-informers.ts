// The informers of the proxy, with selectors and trimmed objects (KPX-01).
import type { ApiCaller } from '../client/api-call.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import type { Clock } from '../host/clock.ts';
import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import { serviceCidrDefinition } from '../kinds/service-cidr/definition.ts';
import type { ServiceCIDR } from '../kinds/service-cidr/types.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Log } from '../observe/log.ts';
import { createEndpointOwners } from './model/endpoint-owner.ts';
import type { ServiceObjects } from './model/track-state.ts';
import { createTrimmer, type TrimmedSlice, trimNode } from './model/trim-objects.ts';
import { serviceSelectors, sliceSelector } from './model/watched-objects.ts';

export type ProxyInformers = {
  readonly services: Informer<Service>;
  readonly slices: Informer<TrimmedSlice>;
  /** The node of this proxy. */
  readonly nodes: Informer<Node>;
  /** All nodes, with their addresses only; empty if this proxy may not read them. */
  readonly allNodes: Informer<Node>;
  /** Why an address is an endpoint of a Service or pod; undefined: it is none. */
  readonly endpointOwner: (ip: string) => string | undefined;
  readonly ranges: Informer<ServiceCIDR>;
  readonly objectsOf: (serviceKey: string) => ServiceObjects;
  readonly ended: Promise<unknown>;
};

export type ProxyInformersOptions = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  /** Whether addresses of other nodes are needed. */
  readonly watchesAllNodes: boolean;
};
const byService = 'service';

export function startProxyInformers(
  { nodeName, watchesAllNodes, ...options }: ProxyInformersOptions,
  signal: AbortSignal,
): ProxyInformers {
  const trimmer = createTrimmer();
  const services = startInformer(
    {
      ...options,
      type: serviceDefinition,
      ...serviceSelectors,
      trim: trimmer.service,
    },
    signal,
  );
  // The API sends whole slices; the store and listeners have trimmed ones.
  const { group, version, kind, plural, namespaced } = endpointSliceDefinition;
  const slices = startInformer<TrimmedSlice>(
    {
      ...options,
      type: { group, version, kind, plural, namespaced },
      ...sliceSelector,
      trim: (received: KubeObject) => trimmer.slice(received as EndpointSlice),
      indexes: { [byService]: ({ serviceKey }) => (serviceKey === undefined ? [] : [serviceKey]) },
    },
    signal,
  );
  const owners = createEndpointOwners(slices.store.values);
  // The index of all endpoints serves many lookups in a row, and is dropped after them.
  let isInUse = false;
  const release = (): void => {
    isInUse = false;
    owners.changed([]);
  };
  const endpointOwner = (ip: string): string | undefined => {
    if (!isInUse) setImmediate(release);
    isInUse = true;
    return owners.ownerOf(ip);
  };
  const changed = ({ addresses }: TrimmedSlice): void => owners.changed(addresses);
  slices.onChange({
    add: changed,
    update: (before, after) => owners.changed([...before.addresses, ...after.addresses]),
    delete: changed,
  });
  const nodes = startInformer(
    { ...options, type: nodeDefinition, fieldSelector: `metadata.name=${nodeName}` },
    signal,
  );
  // Other nodes are not read where they are not needed (KPX-01).
  const allNodes = !watchesAllNodes
    ? nodes
    : startInformer({ ...options, type: nodeDefinition, trim: trimNode }, signal);
  const ranges = startInformer({ ...options, type: serviceCidrDefinition }, signal);
  return {
    services,
    slices,
    nodes,
    allNodes,
    ranges,
    endpointOwner,
    objectsOf(key) {
      const service = services.store.get(key);
      return {
        ...(service === undefined ? {} : { service }),
        slices: slices.store.select(byService, key),
      };
    },
    ended: Promise.all([services.ended, slices.ended, nodes.ended, allNodes.ended, ranges.ended]),
  };
}

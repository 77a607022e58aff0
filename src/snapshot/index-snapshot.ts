// Finds objects of a snapshot by name, label and address. Each index is built when it is first used.
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../kinds/endpoints/types.ts';
import type { Event } from '../kinds/event/types.ts';
import type { Namespace } from '../kinds/namespace/types.ts';
import type { Node } from '../kinds/node/types.ts';
import { podLabels, selectPods } from '../kinds/pod/label-index.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { createSelectorIndex, type SelectorIndex } from '../kinds/service/selector-index.ts';
import type { Service } from '../kinds/service/types.ts';
import type { Labels } from '../meta/labels.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import type { Snapshot } from './snapshot.ts';

export type ObjectIdentity = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

export type SnapshotIndex = {
  readonly snapshot: Snapshot;
  readonly namespace: (name: string) => Namespace | undefined;
  readonly node: (name: string) => Node | undefined;
  readonly service: (namespace: string, name: string) => Service | undefined;
  readonly servicesIn: (namespace: string) => readonly Service[];
  /** By any address the Service names: cluster IPs, external IPs, load balancer status. */
  readonly servicesAt: (address: string) => readonly Service[];
  /** Names of the Services whose selectors match the labels. */
  readonly selecting: (namespace: string, labels: Labels | undefined) => readonly string[];
  readonly endpoints: (namespace: string, service: string) => Endpoints | undefined;
  readonly slicesOf: (namespace: string, service: string) => readonly EndpointSlice[];
  readonly pod: (namespace: string, name: string) => Pod | undefined;
  readonly podsIn: (namespace: string) => readonly Pod[];
  readonly podsOn: (node: string) => readonly Pod[];
  /** Pods on the network of their node share its addresses. */
  readonly podsAt: (address: string) => readonly Pod[];
  /** Pods that have all of the labels; none for an empty selector. */
  readonly podsWith: (namespace: string, selector: Labels) => readonly Pod[];
  readonly eventsAbout: (object: ObjectIdentity) => readonly Event[];
};

export function indexSnapshot(snapshot: Snapshot): SnapshotIndex {
  const { objects } = snapshot;
  const byName = <T extends KubeObject>(all: () => readonly T[]) =>
    lazily(() => new Map(all().map((one) => [objectKey(one.metadata), one])));
  const namespaces = byName(() => objects.namespaces);
  const nodes = byName(() => objects.nodes);
  const services = byName(() => objects.services);
  const endpoints = byName(() => objects.endpoints);
  const pods = byName(() => objects.pods);
  const group = <T>(all: () => readonly T[], keysOf: (one: T) => Iterable<string>) =>
    lazily(() => groupBy(all(), keysOf));
  const servicesByNamespace = group(() => objects.services, namespaceOf);
  const servicesByAddress = group(() => objects.services, serviceAddresses);
  const slices = group(() => objects.endpointSlices, sliceOwner);
  const podsByNamespace = group(() => objects.pods, namespaceOf);
  const podsByNode = group(
    () => objects.pods,
    ({ spec }) => (spec.nodeName ? [spec.nodeName] : []),
  );
  const podsByAddress = group(() => objects.pods, podIPs);
  const podsByLabel = group(() => objects.pods, podLabels);
  const events = group(
    () => objects.events,
    ({ involvedObject: { kind = '', namespace = '', name = '' } }) => [
      `${kind} ${namespace}/${name}`,
    ],
  );
  const selectors = lazily(() => selectorsOf(objects.services));
  return {
    snapshot,
    namespace: (name) => namespaces().get(name),
    node: (name) => nodes().get(name),
    service: (namespace, name) => services().get(`${namespace}/${name}`),
    servicesIn: (namespace) => servicesByNamespace().get(namespace) ?? [],
    servicesAt: (address) => servicesByAddress().get(canonical(address)) ?? [],
    selecting: (namespace, labels) => selectors().matching(namespace, labels),
    endpoints: (namespace, service) => endpoints().get(`${namespace}/${service}`),
    slicesOf: (namespace, service) => slices().get(`${namespace}/${service}`) ?? [],
    pod: (namespace, name) => pods().get(`${namespace}/${name}`),
    podsIn: (namespace) => podsByNamespace().get(namespace) ?? [],
    podsOn: (node) => podsByNode().get(node) ?? [],
    podsAt: (address) => podsByAddress().get(canonical(address)) ?? [],
    podsWith: (namespace, selector) =>
      selectPods(
        {
          select: (_index, key) => podsByLabel().get(key) ?? [],
          count: (_index, key) => podsByLabel().get(key)?.length ?? 0,
        },
        namespace,
        selector,
      ),
    eventsAbout: ({ kind, namespace, name }) => events().get(`${kind} ${namespace}/${name}`) ?? [],
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function groupBy<T>(
  all: readonly T[],
  keysOf: (one: T) => Iterable<string>,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    for (const key of keysOf(one)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [one]);
      else group.push(one);
    }
  }
  return groups;
}

const namespaceOf = ({ metadata }: KubeObject): readonly string[] => [metadata.namespace ?? ''];

function sliceOwner({ metadata }: EndpointSlice): readonly string[] {
  const service = metadata.labels?.[serviceNameLabel] ?? '';
  return service === '' ? [] : [`${metadata.namespace ?? ''}/${service}`];
}

function serviceAddresses({ spec, status }: Service): ReadonlySet<string> {
  const named = [
    ...(spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP])),
    ...(spec.externalIPs ?? []),
    ...(status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip),
  ];
  return new Set(named.filter((one) => one !== '' && one !== 'None').map(canonical));
}

function podIPs({ status }: Pod): ReadonlySet<string> {
  const named = status?.podIPs?.map(({ ip = '' }) => ip) ?? [status?.podIP ?? ''];
  return new Set(named.filter((ip) => ip !== '').map(canonical));
}

/** Objects may spell an address in several ways. */
function canonical(text: string): string {
  const address = parseAddressSloppy(text);
  return address === undefined ? text : formatAddress(address);
}

function selectorsOf(services: readonly Service[]): SelectorIndex {
  const index = createSelectorIndex();
  for (const { metadata, spec } of services) {
    const name = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    index.set(name, spec.selector);
  }
  return index;
}

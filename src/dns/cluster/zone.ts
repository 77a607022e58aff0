// The names of a cluster: Services, EndpointSlices, namespaces and pods, indexed by name and by address. A change invalidates only the
// cached answers of its Service.
import type { PodFacts, ServiceFacts, SliceFacts } from './facts.ts';

export type ZoneChange =
  | { readonly kind: 'service'; readonly key: string; readonly facts?: ServiceFacts }
  | { readonly kind: 'slice'; readonly key: string; readonly facts?: SliceFacts }
  | { readonly kind: 'pod'; readonly key: string; readonly facts?: PodFacts }
  | { readonly kind: 'namespace'; readonly key: string; readonly exists: boolean };

/** Whether cached answers about a Service are still valid: set to false when it changes. */
export type Validity = { isCurrent: boolean };

export type Zone = {
  readonly apply: (change: ZoneChange) => void;
  readonly hasNamespace: (name: string) => boolean;
  readonly service: (namespace: string, name: string) => ServiceFacts | undefined;
  readonly slices: (namespace: string, service: string) => readonly SliceFacts[];
  readonly serviceAt: (address: string) => ServiceFacts | undefined;
  readonly slicesAt: (address: string) => readonly SliceFacts[];
  readonly podsAt: (address: string) => readonly PodFacts[];
  /** The pod with the address; undefined for a node's address, which hostNetwork pods share. */
  readonly podOf: (address: string) => PodFacts | undefined;
  /** To be stored with a cached answer about the Service. */
  readonly validity: (namespace: string, service: string) => Validity;
  readonly size: () => { readonly services: number; readonly endpoints: number };
};

const none: readonly never[] = [];
/** More than the response cache holds; at the limit all are expired, which costs one lookup each. */
const maxValidities = 100_000;

export function createZone(): Zone {
  const namespaces = new Set<string>();
  const services = new Map<string, ServiceFacts>();
  const slices = new Map<string, SliceFacts>();
  const slicesByService = createIndex<SliceFacts>();
  const servicesByAddress = createIndex<ServiceFacts>();
  const slicesByAddress = createIndex<SliceFacts>();
  const pods = new Map<string, PodFacts>();
  const podsByAddress = createIndex<PodFacts>();
  const validities = new Map<string, Validity>();
  let endpoints = 0;
  const expire = (key: string): void => {
    const validity = validities.get(key);
    if (validity === undefined) return;
    validity.isCurrent = false;
    validities.delete(key);
  };
  const setService = (key: string, facts: ServiceFacts | undefined): void => {
    const previous = replace(services, key, facts);
    for (const address of previous?.clusterIPs ?? none) servicesByAddress.remove(address, previous);
    for (const address of facts?.clusterIPs ?? none) servicesByAddress.add(address, facts);
    expire(key);
  };
  const setSlice = (key: string, facts: SliceFacts | undefined): void => {
    const previous = replace(slices, key, facts);
    for (const [slice, index] of [
      [previous, 'remove'],
      [facts, 'add'],
    ] as const) {
      if (slice === undefined) continue;
      const service = serviceKey(slice.namespace, slice.service);
      slicesByService[index](service, slice);
      for (const address of new Set(slice.addresses)) slicesByAddress[index](address, slice);
      endpoints += index === 'add' ? slice.addresses.length : -slice.addresses.length;
      expire(service);
    }
  };
  const setPod = (key: string, facts: PodFacts | undefined): void => {
    const previous = replace(pods, key, facts);
    for (const address of previous?.addresses ?? none) podsByAddress.remove(address, previous);
    for (const address of facts?.addresses ?? none) podsByAddress.add(address, facts);
  };
  const setNamespace = (name: string, exists: boolean): void => {
    if (exists) namespaces.add(name);
    else namespaces.delete(name);
    for (const key of [...validities.keys()]) if (key.startsWith(`${name}/`)) expire(key);
  };
  return {
    apply(change) {
      switch (change.kind) {
        case 'service':
          return setService(change.key, change.facts);
        case 'slice':
          return setSlice(change.key, change.facts);
        case 'pod':
          return setPod(change.key, change.facts);
        case 'namespace':
          return setNamespace(change.key, change.exists);
      }
    },
    hasNamespace: (name) => namespaces.has(name),
    service: (namespace, name) => services.get(serviceKey(namespace, name)),
    slices: (namespace, service) => slicesByService.get(serviceKey(namespace, service)),
    serviceAt: (address) => servicesByAddress.get(address)[0],
    slicesAt: slicesByAddress.get,
    podsAt: podsByAddress.get,
    podOf: (address) => podsByAddress.get(address).find(({ isOnHost }) => isOnHost === undefined),
    validity(namespace, service) {
      const key = serviceKey(namespace, service);
      let validity = validities.get(key);
      if (validity === undefined) {
        // Bounded, as clients can query any number of Services that do not exist.
        if (validities.size >= maxValidities) for (const one of [...validities.keys()]) expire(one);
        validity = { isCurrent: true };
        validities.set(key, validity);
      }
      return validity;
    },
    size: () => ({ services: services.size, endpoints }),
  };
}

function serviceKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function replace<T>(map: Map<string, T>, key: string, value: T | undefined): T | undefined {
  const previous = map.get(key);
  if (value === undefined) map.delete(key);
  else map.set(key, value);
  return previous;
}

type Index<T> = {
  readonly add: (key: string, value: T | undefined) => void;
  readonly remove: (key: string, value: T | undefined) => void;
  readonly get: (key: string) => readonly T[];
};

/** Most keys have one value, stored without an array: saves memory with 100,000 endpoints. */
function createIndex<T extends object>(): Index<T> {
  const values = new Map<string, T | readonly T[]>();
  const get = (key: string): readonly T[] => {
    const found = values.get(key);
    if (found === undefined) return none;
    return isList(found) ? found : [found];
  };
  return {
    add(key, value) {
      if (value === undefined) return;
      const previous = get(key);
      values.set(key, previous.length === 0 ? value : [...previous, value]);
    },
    remove(key, value) {
      const left = get(key).filter((one) => one !== value);
      const [only] = left;
      if (only === undefined) values.delete(key);
      else values.set(key, left.length === 1 ? only : left);
    },
    get,
  };
}

function isList<T extends object>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

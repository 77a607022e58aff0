// Cluster IPs and node ports of Services that have none, by the API server's own reservation. Nothing is random here: the same Service
// gets the same address each time.

import { addressRanges } from '../apiserver/allocators/address-ranges.ts';
import { ipAddressResource } from '../apiserver/allocators/cluster-ip.ts';
import {
  createNodePortView,
  nodePortKey,
  nodePortValue,
} from '../apiserver/allocators/node-port-view.ts';
import { createNumberSet } from '../apiserver/allocators/number-set.ts';
import { reserveService } from '../apiserver/allocators/reserve-service.ts';
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';
import { parseCidr } from '../ip/cidr.ts';
import { clusterAddresses, nodePortsHeld } from '../kinds/service/allocation.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import type { ServiceCIDR } from '../kinds/service-cidr/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';

export type Reserver = {
  /** The Service with what it needs; throws the API server's error where that is not possible. */
  readonly reserve: (after: Service, before?: Service) => Service;
  readonly release: (service: Service) => void;
};

export type ReserverOptions = {
  readonly services: readonly Service[];
  readonly serviceCIDRs: readonly ServiceCIDR[];
  readonly now: number;
};

/** Defaults of the API server. */
export const defaultServiceCidrs = ['10.96.0.0/16', 'fd00:96::/108'];
const nodePortRange = { first: 30000, last: 32767 };

export function createReserver({ services, serviceCIDRs, now }: ReserverOptions): Reserver {
  const ranges = serviceCIDRs.length === 0 ? [madeServiceCidr(defaultServiceCidrs)] : serviceCIDRs;
  const taken = { IPv4: createNumberSet(), IPv6: createNumberSet() };
  const owners = new Map<string, KubeObject>();
  const nodePorts = createNodePortView();
  let revision = 0;
  const record = (service: Service): void => {
    for (const address of addressesOf(service)) {
      taken[address.family].add(address.value);
      owners.set(formatAddress(address), addressObject(service, formatAddress(address)));
    }
    revision += 1;
    const value = nodePortValue(objectKey(service.metadata));
    nodePorts.load(nodePortsHeld(service).map((port) => entry(port, value, revision)));
  };
  const release = (service: Service): void => {
    for (const address of addressesOf(service)) {
      taken[address.family].remove(address.value);
      owners.delete(formatAddress(address));
    }
    revision += 1;
    nodePorts.apply(nodePortsHeld(service).map((port) => deletion(port, revision)));
  };
  for (const service of services) record(service);
  const plan = reserveService({
    reader: {
      get: (resource, _namespace, name) =>
        resource === ipAddressResource ? owners.get(name) : undefined,
      list: () => ranges,
      revision: () => 0,
    },
    addresses: {
      firstFree: (family, from, to) => taken[family].firstGap(from, to),
      pending: { IPv4: new Set(), IPv6: new Set() },
    },
    nodePorts,
    config: {
      serviceCidrs: addressRanges(ranges).map(({ cidr }) => cidr),
      nodePortRange,
    },
    random: () => 0,
    newUid: () => 'made',
    now: () => now,
  });
  return {
    release,
    reserve(after, before) {
      const change = { definition: serviceDefinition, after, dryRun: false };
      const outcome = plan(before === undefined ? change : { ...change, before });
      const service = (outcome.object ?? after) as Service;
      if (before !== undefined) release(before);
      record(service);
      return service;
    },
  };
}

const addressesOf = (service: Service) =>
  clusterAddresses(service).flatMap((text) => parseAddressSloppy(text) ?? []);

const entry = (port: number, value: Uint8Array, revision: number) => ({
  key: nodePortKey(port),
  value,
  revision,
  createRevision: revision,
});

const deletion = (port: number, revision: number) =>
  ({ type: 'delete', key: nodePortKey(port), revision, createRevision: revision }) as const;

/** As much of an IPAddress as shows whose it is. */
function addressObject({ metadata }: Service, name: string): KubeObject {
  const { namespace, name: service } = metadata;
  const parentRef = { resource: 'services', namespace, name: service };
  const object = { kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', metadata: { name } };
  return Object.assign(object, { spec: { parentRef } });
}

/** As every API server has it. */
export function madeServiceCidr(cidrs: readonly string[]): ServiceCIDR {
  return {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: 'kubernetes', uid: 'made-servicecidr-kubernetes' },
    spec: { cidrs: cidrs.filter((text) => parseCidr(text) !== undefined) },
    status: {},
  };
}

// What must hold between services and what is allocated to them, read from the store itself.
import assert from 'node:assert/strict';
import type { IPAddress } from '../../../src/kinds/ip-address/types.ts';
import { clusterAddresses, nodePortsHeld } from '../../../src/kinds/service/allocation.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Store } from '../../../src/storage/store.ts';

export const addressPrefix = '/registry/ipaddresses.networking.k8s.io/';
export const portPrefix = '/registry/nodeports/';

async function values<T>(store: Store, prefix: string): Promise<ReadonlyMap<string, T>> {
  const { entries } = await store.list(prefix);
  return new Map(
    entries.map(({ key, value }) => [
      key.slice(prefix.length),
      JSON.parse(Buffer.from(value).toString('utf8')) as T,
    ]),
  );
}

export type Allocations = {
  /** Address → `namespace/name` of the service that its object names. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Port → `namespace/name`. */
  readonly ports: ReadonlyMap<string, string>;
};

export async function readAllocations(store: Store): Promise<Allocations> {
  const addresses = await values<IPAddress>(store, addressPrefix);
  const ports = await values<{ readonly service: string }>(store, portPrefix);
  return {
    addresses: new Map(
      [...addresses].map(([name, { spec }]) => [
        name,
        `${spec.parentRef?.namespace}/${spec.parentRef?.name}`,
      ]),
    ),
    ports: new Map([...ports].map(([port, { service }]) => [port, service])),
  };
}

/** Every address and port of a service has its record, and there is no record without a service. */
export async function assertExact(store: Store): Promise<void> {
  const services = await values<Service>(store, '/registry/services/');
  const { addresses, ports } = await readAllocations(store);
  assertAllocated([...services.values()], { addresses, ports });
}

export function assertAllocated(
  services: readonly Service[],
  { addresses, ports }: Allocations,
): void {
  assert.deepEqual(sorted(addresses), sorted(owners(services, clusterAddresses)));
  assert.deepEqual(sorted(ports), sorted(owners(services, nodePortsHeld)));
}

/** Fails when two services hold the same. */
function owners(
  services: readonly Service[],
  held: (service: Service) => readonly (string | number)[],
): ReadonlyMap<string, string> {
  const owner = new Map<string, string>();
  for (const service of services) {
    const { namespace, name } = service.metadata;
    for (const each of new Set(held(service).map(String))) {
      const other = owner.get(each);
      assert.equal(other, undefined, `${namespace}/${name} and ${other} both hold ${each}`);
      owner.set(each, `${namespace}/${name}`);
    }
  }
  return owner;
}

const sorted = (map: ReadonlyMap<string, string>): readonly (readonly [string, string])[] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

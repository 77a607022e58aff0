// Metrics of allocated and free service addresses and node ports, with upstream's names.
import { parseAddress } from '../../ip/address.ts';
import { type PortRange, portCount } from '../../ip/port-range.ts';
import { allocatorName, managedByLabel } from '../../kinds/ip-address/types.ts';
import type { Counter, Labels, MetricsRegistry, Sample, Tally } from '../../observe/metrics.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type AddressRange, offersAddress } from './address-ranges.ts';
import { ipAddressResource } from './cluster-ip.ts';
import type { NodePortView } from './node-port-view.ts';

/** Static: a requested one. Dynamic: any. */
export type Scope = 'static' | 'dynamic';

export type AllocatorMetrics = {
  /** `startedAt`: performance.now() at the start of the search. */
  readonly addressAllocated: (cidr: string, scope: Scope, startedAt: number) => void;
  readonly addressRefused: (cidr: string, scope: Scope) => void;
  readonly portAllocated: (scope: Scope) => void;
  readonly portRefused: (scope: Scope) => void;
};

export type AllocatorState = {
  readonly reader: ObjectReader;
  readonly nodePorts: NodePortView;
  readonly nodePortRange: PortRange;
  readonly ranges: () => readonly AddressRange[];
};

/** Prometheus' defaults, as upstream. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createAllocatorMetrics(
  registry: MetricsRegistry,
  { reader, nodePorts, nodePortRange, ranges }: AllocatorState,
): AllocatorMetrics {
  const addresses = (name: string, help: string) => ({
    name: `kube_apiserver_clusterip_allocator_${name}`,
    help,
  });
  const ports = (name: string, help: string) => ({
    name: `kube_apiserver_nodeport_allocator_${name}`,
    help,
  });
  const used = (): readonly Used[] => countUsed(reader, ranges());
  registry.gaugeFrom(addresses('allocated_ips', 'Allocated service addresses.'), () =>
    used().map(({ labels, taken }) => ({ labels, value: taken })),
  );
  registry.gaugeFrom(addresses('available_ips', 'Free service addresses.'), () =>
    used().map(({ labels, taken, size }): Sample => ({ labels, value: size - taken })),
  );
  registry.gaugeFrom(ports('allocated_ports', 'Allocated node ports.'), nodePorts.count);
  registry.gaugeFrom(
    ports('available_ports', 'Free node ports.'),
    () => portCount(nodePortRange) - nodePorts.count(),
  );
  const took = registry.histogram({
    ...addresses('allocation_duration_seconds', 'Time to find an address, by range.'),
    buckets: durationBuckets,
  });
  const ofRange = memoized((cidr) => ({
    taken: counts(registry.counter(addresses('allocation_total', takenHelp)), { cidr }),
    refused: counts(registry.counter(addresses('allocation_errors_total', refusedHelp)), { cidr }),
    took: took.observer({ cidr }),
  }));
  const takenPorts = counts(registry.counter(ports('allocation_total', takenHelp)), {});
  const refusedPorts = counts(registry.counter(ports('allocation_errors_total', refusedHelp)), {});
  return {
    addressAllocated(cidr, scope, startedAt) {
      const range = ofRange(cidr);
      range.taken[scope].value += 1;
      range.took((performance.now() - startedAt) / 1000);
    },
    addressRefused(cidr, scope) {
      ofRange(cidr).refused[scope].value += 1;
    },
    portAllocated(scope) {
      takenPorts[scope].value += 1;
    },
    portRefused(scope) {
      refusedPorts[scope].value += 1;
    },
  };
}

const takenHelp = 'Allocations, by whether the value was requested (static) or not (dynamic).';
const refusedHelp =
  'Failed allocations, by whether the value was requested (static) or not (dynamic).';

function counts(counter: Counter, labels: Labels): Readonly<Record<Scope, Tally>> {
  return {
    static: counter.tally({ ...labels, scope: 'static' }),
    dynamic: counter.tally({ ...labels, scope: 'dynamic' }),
  };
}

/** Ranges are few, and rarely change. */
function memoized<T>(make: (cidr: string) => T): (cidr: string) => T {
  const made = new Map<string, T>();
  return (cidr) => {
    const known = made.get(cidr) ?? make(cidr);
    made.set(cidr, known);
    return known;
  };
}

type Used = { readonly labels: { readonly cidr: string }; taken: number; readonly size: number };

/** Ranges may overlap: an address counts in each that contains it. IPAddress objects created by users do not count. */
function countUsed(reader: ObjectReader, ranges: readonly AddressRange[]): readonly Used[] {
  const used = ranges.map(({ text, bands }) => ({
    labels: { cidr: text },
    taken: 0,
    size: Number(bands.last - bands.first + 1n),
  }));
  for (const { metadata } of reader.list(ipAddressResource)) {
    if (metadata.labels?.[managedByLabel] !== allocatorName) continue;
    const address = parseAddress(metadata.name ?? '');
    if (address === undefined) continue;
    for (const [at, range] of ranges.entries()) {
      const one = used[at];
      if (one !== undefined && offersAddress(range, address)) one.taken += 1;
    }
  }
  return used;
}

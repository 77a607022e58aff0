// What is taken and what is left of service addresses and node ports, under upstream's names.
import { parseAddress } from '../../ip/address.ts';
import { type PortRange, portCount } from '../../ip/port-range.ts';
import { allocatorName, managedByLabel } from '../../kinds/ip-address/types.ts';
import type { Counter, Labels, MetricsRegistry, Sample, Tally } from '../../observe/metrics.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type AddressRange, offersAddress } from './address-ranges.ts';
import { ipAddressResource } from './cluster-ip.ts';
import type { NodePortView } from './node-port-view.ts';

/** Static: the one that was asked for. Dynamic: any. */
export type Scope = 'static' | 'dynamic';

export type AllocatorMetrics = {
  /** `began` as performance.now() told it when the search started. */
  readonly addressTaken: (cidr: string, scope: Scope, began: number) => void;
  readonly addressRefused: (cidr: string, scope: Scope) => void;
  readonly portTaken: (scope: Scope) => void;
  readonly portRefused: (scope: Scope) => void;
};

export type AllocatorState = {
  readonly reader: ObjectReader;
  readonly nodePorts: NodePortView;
  readonly nodePortRange: PortRange;
  readonly ranges: () => readonly AddressRange[];
};

/** Prometheus' own, as upstream has it here. */
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
  registry.gaugeFrom(addresses('allocated_ips', 'Service addresses that are taken.'), () =>
    used().map(({ labels, taken }) => ({ labels, value: taken })),
  );
  registry.gaugeFrom(addresses('available_ips', 'Service addresses that are free.'), () =>
    used().map(({ labels, taken, size }): Sample => ({ labels, value: size - taken })),
  );
  registry.gaugeFrom(ports('allocated_ports', 'Node ports that are taken.'), nodePorts.count);
  registry.gaugeFrom(
    ports('available_ports', 'Node ports that are free.'),
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
    addressTaken(cidr, scope, began) {
      const range = ofRange(cidr);
      range.taken[scope].value += 1;
      range.took((performance.now() - began) / 1000);
    },
    addressRefused(cidr, scope) {
      ofRange(cidr).refused[scope].value += 1;
    },
    portTaken(scope) {
      takenPorts[scope].value += 1;
    },
    portRefused(scope) {
      refusedPorts[scope].value += 1;
    },
  };
}

const takenHelp = 'Taken, by whether one was asked for.';
const refusedHelp = 'Not to be had, by whether one was asked for.';

function counts(counter: Counter, labels: Labels): Readonly<Record<Scope, Tally>> {
  return {
    static: counter.tally({ ...labels, scope: 'static' }),
    dynamic: counter.tally({ ...labels, scope: 'dynamic' }),
  };
}

/** Ranges are few, and come and go seldom. */
function memoized<T>(make: (cidr: string) => T): (cidr: string) => T {
  const made = new Map<string, T>();
  return (cidr) => {
    const known = made.get(cidr) ?? make(cidr);
    made.set(cidr, known);
    return known;
  };
}

type Used = { readonly labels: { readonly cidr: string }; taken: number; readonly size: number };

/** Ranges may overlap: an address counts in each that has it. Those that somebody made by hand do not count. */
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

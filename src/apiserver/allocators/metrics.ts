// What is taken and what is left of service addresses and node ports, under upstream's names.
import { parseAddress } from '../../ip/address.ts';
import { formatCidr } from '../../ip/cidr.ts';
import { type PortRange, portCount } from '../../ip/port-range.ts';
import type { AddressWish, PortPlan } from '../../kinds/service/allocation.ts';
import type { MetricsRegistry, Sample } from '../../observe/metrics.ts';
import type { ObjectReader } from '../object-reader.ts';
import { type AddressRange, offersAddress } from './address-ranges.ts';
import { ipAddressResource } from './cluster-ip.ts';
import type { NodePortView } from './node-port-view.ts';

export type AllocatorMetrics = {
  /** Runs what takes addresses, and counts how it went. */
  readonly ofAddresses: <T>(wishes: readonly AddressWish[], take: () => T) => T;
  readonly ofPorts: <T>(plan: PortPlan, take: () => T) => T;
};

export type AllocatorState = {
  readonly reader: ObjectReader;
  readonly nodePorts: NodePortView;
  readonly nodePortRange: PortRange;
  readonly ranges: () => readonly AddressRange[];
};

/** Static: the one that was asked for. Dynamic: any. */
type Scope = 'static' | 'dynamic';

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
  return {
    ofAddresses: createCount(registry, addresses, (wishes: readonly AddressWish[]) =>
      wishes.map(({ address }) => (address === undefined ? 'dynamic' : 'static')),
    ),
    ofPorts: createCount(registry, ports, (plan: PortPlan) =>
      [...plan.ports, { nodePort: plan.healthCheck }].flatMap((wish): readonly Scope[] => {
        if (!('nodePort' in wish) || wish.nodePort === undefined) return [];
        return [wish.nodePort === 'any' ? 'dynamic' : 'static'];
      }),
    ),
  };
}

function createCount<W>(
  registry: MetricsRegistry,
  named: (name: string, help: string) => { readonly name: string; readonly help: string },
  scopesOf: (wish: W) => readonly Scope[],
): <T>(wish: W, take: () => T) => T {
  const done = registry.counter(named('allocation_total', 'Taken, by whether one was asked for.'));
  const failed = registry.counter(
    named('allocation_errors_total', 'Not to be had, by whether one was asked for.'),
  );
  const labels = { static: { scope: 'static' }, dynamic: { scope: 'dynamic' } } as const;
  return (wish, take) => {
    const scopes = scopesOf(wish);
    try {
      const taken = take();
      for (const scope of scopes) done.add(labels[scope]);
      return taken;
    } catch (error) {
      failed.add(labels[scopes.includes('static') ? 'static' : 'dynamic']);
      throw error;
    }
  };
}

type Used = { readonly labels: { readonly cidr: string }; taken: number; readonly size: number };

function countUsed(reader: ObjectReader, ranges: readonly AddressRange[]): readonly Used[] {
  const used = ranges.map(({ cidr, bands }) => ({
    labels: { cidr: formatCidr(cidr) },
    taken: 0,
    size: Number(bands.last - bands.first + 1n),
  }));
  for (const { metadata } of reader.list(ipAddressResource)) {
    const address = parseAddress(metadata.name ?? '');
    if (address === undefined) continue;
    const at = ranges.findIndex((range) => offersAddress(range, address));
    const one = used[at];
    if (one !== undefined) one.taken += 1;
  }
  return used;
}

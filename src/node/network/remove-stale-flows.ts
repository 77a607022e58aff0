// Removes stale UDP conntrack entries of host ports. UDP flows do not end: datagrams to a host port would still go to the previous
// destination.
import { type Flow, openConntrack } from '../../host/netlink/conntrack.ts';
import type { Netlink } from '../../host/netlink/netlink.ts';
import { listAddresses } from '../../host/netlink/route-addresses.ts';
import { isIPv6 } from '../../ip/address.ts';
import type { HostPort } from './host-ports.ts';

export async function removeStaleFlows(
  route: Netlink,
  hostPorts: readonly HostPort[],
  isAdded: boolean,
): Promise<void> {
  const ports = hostPorts.filter(({ protocol }) => protocol === 'udp');
  if (ports.length === 0) return;
  const local = new Set((await listAddresses(route)).map(({ address }) => address));
  const conntrack = await openConntrack();
  try {
    for (const family of ['IPv4', 'IPv6'] as const) {
      const ofFamily = ports.filter(({ podIP }) => isIPv6(podIP) === (family === 'IPv6'));
      if (ofFamily.length === 0) continue;
      const flows = await conntrack.listFlows({ family, protocol: 'UDP' });
      const stale = staleFlows(flows, { ports: ofFamily, isAdded, local });
      for (const flow of stale) await conntrack.deleteFlow(flow);
    }
  } finally {
    await conntrack.close();
  }
}

export type PortChange = {
  readonly ports: readonly HostPort[];
  /** Whether the host ports were added, or removed. */
  readonly isAdded: boolean;
  /** Addresses of the node. */
  readonly local: ReadonlySet<string>;
};

export function staleFlows(
  flows: readonly Flow[],
  { ports, isAdded, local }: PortChange,
): readonly Flow[] {
  return flows.filter(({ original, reply }) =>
    ports.some(({ port, hostIP, podIP }) => {
      const isOurs =
        original.destinationPort === port &&
        (hostIP === undefined ? local.has(original.destination) : original.destination === hostIP);
      return isOurs && (reply.source === podIP) !== isAdded;
    }),
  );
}

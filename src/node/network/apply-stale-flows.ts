// Ends UDP flows of host ports that have come or gone.
import { openConntrack } from '../../host/netlink/conntrack.ts';
import type { Netlink } from '../../host/netlink/netlink.ts';
import { listAddresses } from '../../host/netlink/route-addresses.ts';
import { isIPv6 } from '../../ip/address.ts';
import type { HostPort } from './host-ports.ts';
import { staleFlows } from './stale-flows.ts';

export async function endStaleFlows(
  route: Netlink,
  hostPorts: readonly HostPort[],
  hasCome: boolean,
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
      const stale = staleFlows(flows, { ports: ofFamily, hasCome, local });
      for (const flow of stale) await conntrack.deleteFlow(flow);
    }
  } finally {
    await conntrack.close();
  }
}

// Where connections really went, from the kernel's table of connections.
import { openConntrack } from '../../host/netlink/conntrack.ts';
import type { LiveRequest, SeenFlow } from './live-request.ts';

type FlowsRequest = Extract<LiveRequest, { readonly kind: 'flows' }>;

export async function readFlows({
  family,
  protocol,
  destination,
  port,
  sourcePorts,
}: FlowsRequest): Promise<readonly SeenFlow[]> {
  const wanted = new Set(sourcePorts);
  const conntrack = await openConntrack();
  try {
    const flows = await conntrack.listFlows({ family, protocol });
    return flows.flatMap(({ original, reply }) => {
      const isOurs =
        original.destination === destination &&
        original.destinationPort === port &&
        wanted.has(original.sourcePort);
      if (!isOurs) return [];
      const { source, sourcePort } = reply;
      return [{ sourcePort: original.sourcePort, address: source, port: sourcePort }];
    });
  } finally {
    await conntrack.close();
  }
}

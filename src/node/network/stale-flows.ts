// Connections without a beginning and an end live on in the kernel: datagrams to a host port would go on to where they went before.
import type { Flow } from '../../host/netlink/conntrack.ts';
import type { HostPort } from './host-ports.ts';

export type PortChange = {
  readonly ports: readonly HostPort[];
  /** Whether the pod has come, or gone. */
  readonly hasCome: boolean;
  /** Addresses of the node. */
  readonly local: ReadonlySet<string>;
};

export function staleFlows(
  flows: readonly Flow[],
  { ports, hasCome, local }: PortChange,
): readonly Flow[] {
  return flows.filter(({ original, reply }) =>
    ports.some(({ port, hostIP, podIP }) => {
      const isOurs =
        original.destinationPort === port &&
        (hostIP === undefined ? local.has(original.destination) : original.destination === hostIP);
      return isOurs && (reply.source === podIP) !== hasCome;
    }),
  );
}

// Host ports of pods.
import { parseAddress } from '../../ip/address.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type HostPort = {
  /** Absent: every address of the node. */
  readonly hostIP?: string;
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly port: number;
  readonly podIP: string;
  readonly podPort: number;
};

const protocols = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

/** One for each address of the pod; a hostIP maps to the pod's address of the same family. */
export function hostPortsOf({ spec }: Pod, podIPs: readonly string[]): readonly HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInitContainer);
  const ports = [...(spec.containers ?? []), ...sidecars].flatMap(
    (container) => container.ports ?? [],
  );
  return ports.flatMap(({ hostPort = 0, hostIP = '', containerPort, protocol = 'TCP' }) => {
    const known = protocols[protocol as keyof typeof protocols];
    if (hostPort <= 0 || known === undefined) return [];
    const of = parseAddress(hostIP);
    return podIPs
      .filter((ip) => of === undefined || parseAddress(ip)?.family === of.family)
      .map((podIP) => ({
        ...(of === undefined || of.value === 0n ? {} : { hostIP }),
        protocol: known,
        port: hostPort,
        podIP,
        podPort: containerPort,
      }));
  });
}

/** The first port that is in use by another pod. */
export function conflictingPort(
  wanted: readonly HostPort[],
  others: readonly HostPort[],
): HostPort | undefined {
  return wanted.find((port) => others.some((other) => conflict(port, other)));
}

function conflict(a: HostPort, b: HostPort): boolean {
  return (
    a.port === b.port &&
    a.protocol === b.protocol &&
    parseAddress(a.podIP)?.family === parseAddress(b.podIP)?.family &&
    (a.hostIP === undefined || b.hostIP === undefined || a.hostIP === b.hostIP)
  );
}

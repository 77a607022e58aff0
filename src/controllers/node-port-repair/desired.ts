// Which node ports are wrong as far as services alone can tell: one port of two services, or one outside the range.
// Upstream: pkg/registry/core/service/portallocator/controller/repair.go.
import { containsPort, formatPortRange, type PortRange } from '../../ip/port-range.ts';
import type { Service } from '../../kinds/service/types.ts';

export type PortFinding = {
  readonly service: Service;
  readonly reason: 'PortAlreadyAllocated' | 'PortOutOfRange';
  readonly message: string;
};

/** Of services with one port the oldest is right. Without a range nothing is outside of it. */
export function judgeNodePorts(
  services: Iterable<Service>,
  range?: PortRange,
): readonly PortFinding[] {
  const findings: PortFinding[] = [];
  const taken = new Set<number>();
  for (const service of [...services].sort(byAge)) {
    for (const port of nodePortsOf(service)) {
      if (range !== undefined && !containsPort(range, port)) {
        const message = `Port ${port} is not within the port range ${formatPortRange(range)}; please recreate service`;
        findings.push({ service, reason: 'PortOutOfRange', message });
      } else if (taken.has(port)) {
        const message = `Port ${port} was assigned to multiple services; please recreate service`;
        findings.push({ service, reason: 'PortAlreadyAllocated', message });
      }
      taken.add(port);
    }
  }
  return findings;
}

function byAge(a: Service, b: Service): number {
  const ageOf = ({ metadata }: Service): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  return ageOf(a) < ageOf(b) ? -1 : 1;
}

/** Each once for all its protocols; twice when a protocol has it twice, which is a duplicate of its own. */
export function nodePortsOf({ spec }: Service): readonly number[] {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return [];
  const protocols = new Map<number, Set<string>>();
  const ports: number[] = [];
  for (const { nodePort = 0, protocol = 'TCP' } of spec.ports ?? []) {
    const seen = protocols.get(nodePort) ?? new Set();
    if (nodePort !== 0 && (seen.size === 0 || seen.has(protocol))) ports.push(nodePort);
    protocols.set(nodePort, seen.add(protocol));
  }
  return spec.healthCheckNodePort ? [...ports, spec.healthCheckNodePort] : ports;
}

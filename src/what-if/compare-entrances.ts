// Addresses and ports of a Service that proxies capture before or after a change, and not both.
import type { Service } from '../kinds/service/types.ts';
import { servicePorts } from '../proxy/model/service-ports.ts';
import type { Family } from '../proxy/model/state.ts';
import { families } from '../trace/node-rules.ts';
import type { EntranceChange } from './what-if.ts';

type Captured = Omit<EntranceChange, 'change'>;

export function compareEntrances(
  before: Service | undefined,
  after: Service | undefined,
): readonly EntranceChange[] {
  const [was, is] = [capturedBy(before), capturedBy(after)];
  const without = (some: ReadonlyMap<string, Captured>, others: ReadonlyMap<string, Captured>) =>
    [...some].flatMap(([key, one]) => (others.has(key) ? [] : [one]));
  return [
    ...without(was, is).map((one) => ({ change: 'vanishes', ...one }) as const),
    ...without(is, was).map((one) => ({ change: 'appears', ...one }) as const),
  ];
}

function capturedBy(service: Service | undefined): ReadonlyMap<string, Captured> {
  const all = service === undefined ? [] : families.flatMap((one) => capturedIn(service, one));
  return new Map(all.map((one) => [JSON.stringify(one), one]));
}

function capturedIn(service: Service, family: Family): readonly Captured[] {
  return servicePorts(service, { family, allowsExternalIPs: true }).flatMap((one) => {
    const { port, protocol, clusterIP, nodePort, healthCheckNodePort } = one;
    const at = (kind: Captured['kind'], addresses: readonly string[]): readonly Captured[] =>
      addresses.map((address) => ({ kind, address, port, protocol }));
    return [
      ...at('cluster-ip', clusterIP === undefined ? [] : [clusterIP]),
      ...at('external-ip', one.externalIPs),
      ...at('load-balancer-ip', one.loadBalancerIPs),
      ...(nodePort === undefined ? [] : [{ kind: 'node-port', port: nodePort, protocol } as const]),
      ...(healthCheckNodePort === undefined ? [] : [healthCheck(healthCheckNodePort)]),
    ];
  });
}

const healthCheck = (port: number): Captured => ({
  kind: 'health-check-node-port',
  port,
  protocol: 'TCP',
});

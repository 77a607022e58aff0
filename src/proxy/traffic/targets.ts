// The addresses of Services, as the counting of connections needs them: without endpoints, and small enough to be sent to a thread.

import type { LocalTraffic, NodeState, ServicePort, TrafficPolicy } from '../model/state.ts';
import type { Entrance } from '../packets/reference-model.ts';
import { addressKey, nodePortKey, protocolNumbers, socketKey } from './flow-keys.ts';

/** One list for each column; they are parallel. */
export type Targets = {
  /** By `socketKey` or `nodePortKey`. */
  readonly keys: (number | string)[];
  /** The number of the service port. */
  readonly ports: number[];
  readonly entrances: Entrance[];
};

/** What the endpoints of a connection depend on besides its target. */
export type TargetPort = {
  readonly internalPolicy: TrafficPolicy;
  readonly externalPolicy: TrafficPolicy;
  readonly localTraffic: LocalTraffic;
};

export type FlowTargets = Targets & {
  readonly targetPorts: TargetPort[];
  /** Addresses of the node, at which node ports answer. */
  readonly nodeAddresses: (number | string)[];
};

export function makeTargets(nodeAddresses: Iterable<string>): FlowTargets {
  return {
    ...{ keys: [], ports: [], entrances: [], targetPorts: [] },
    nodeAddresses: [...nodeAddresses].flatMap((ip) => addressKey(ip) ?? []),
  };
}

/** Adds a service port; its number is that of the ports before it. */
export function addTarget(
  targets: FlowTargets,
  port: ServicePort,
  { family, localTraffic }: Pick<NodeState, 'family' | 'localTraffic'>,
): void {
  const { internalPolicy, externalPolicy } = port;
  const number = targets.targetPorts.length;
  const protocol = protocolNumbers[port.protocol];
  targets.targetPorts.push({ internalPolicy, externalPolicy, localTraffic });
  const add = (key: number | string, entrance: Entrance): void => {
    targets.keys.push(key);
    targets.ports.push(number);
    targets.entrances.push(entrance);
  };
  const addAddress = (ip: string, entrance: Entrance): void => {
    const key = addressKey(ip);
    if (key !== undefined) add(socketKey(key, port.port, protocol), entrance);
  };
  if (port.clusterIP !== undefined) addAddress(port.clusterIP, 'cluster-ip');
  for (const ip of port.loadBalancerIPs) addAddress(ip, 'load-balancer-ip');
  for (const ip of port.externalIPs) addAddress(ip, 'external-ip');
  if (port.nodePort !== undefined) add(nodePortKey(family, port.nodePort, protocol), 'node-port');
}

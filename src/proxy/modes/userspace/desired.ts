// The relays of a service port, and the port as the carrier gets it, with relays for endpoints.
import type { Endpoint, ServicePort } from '../../model/state.ts';
import type { HostPort } from './relay-address.ts';

export type RelaySpec = {
  readonly id: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly endpoints: readonly HostPort[];
  readonly affinitySeconds?: number;
};

type EndpointSet = 'cluster' | 'local';

/** One relay for each set of endpoints that some traffic of the port may use, and none for an empty set. */
export function relaysOf(port: ServicePort): readonly RelaySpec[] {
  const { protocol, affinitySeconds } = port;
  if (protocol === 'SCTP') return [];
  return setsOf(port).map(([set, endpoints]) => ({
    id: relayId(port, set),
    protocol,
    endpoints: endpoints.map(({ ip, port: number }) => ({ ip, port: number })),
    ...(affinitySeconds === undefined ? {} : { affinitySeconds }),
  }));
}

/**
 * The port with its relays in place of its endpoints, for any kernel mode. Relays implement session affinity, so that the kernel need
 * not. SCTP is not relayed: the carrier sends it to the endpoints (USR-07).
 */
export function redirected(
  port: ServicePort,
  addressOf: (relay: string) => HostPort | undefined,
): ServicePort {
  if (port.protocol === 'SCTP') return port;
  const { affinitySeconds: _, ...rest } = port;
  const relay = (set: EndpointSet): readonly Endpoint[] => {
    const address = addressOf(relayId(port, set));
    return address === undefined ? [] : [{ ...address, isLocal: true }];
  };
  return { ...rest, clusterEndpoints: relay('cluster'), localEndpoints: relay('local') };
}

export function relayId({ key }: Pick<ServicePort, 'key'>, set: EndpointSet): string {
  return `${key} ${set}`;
}

function setsOf(port: ServicePort): readonly (readonly [EndpointSet, readonly Endpoint[]])[] {
  const usesLocal = port.internalPolicy === 'Local' || port.externalPolicy === 'Local';
  const sets = [
    ['cluster', port.clusterEndpoints],
    ['local', usesLocal ? port.localEndpoints : []],
  ] as const;
  return sets.filter(([, endpoints]) => endpoints.length > 0);
}

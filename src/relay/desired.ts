// The listeners on this machine's loopback that forward into the isolated network, for all Services.
import { parseAddress } from '../ip/address.ts';
import { hasClusterIP } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { type LoopbackOctets, loopbackFor } from './loopback.ts';

export type Protocol = 'TCP' | 'UDP';
export type Purpose = 'node port' | 'load balancer' | 'external IP' | 'cluster IP';
export type Endpoint = { readonly host: string; readonly port: number };

export type Relay = {
  /** `TCP 127.0.0.1:30080`: unique. */
  readonly key: string;
  readonly protocol: Protocol;
  readonly listen: Endpoint;
  readonly target: Endpoint;
  /** The source of connections: a client on the LAN, or a process of the node, to which the rules of its proxy apply. */
  readonly from: 'lan' | 'node';
  readonly purpose: Purpose;
  /** `namespace/name` */
  readonly service: string;
  /** The Service that has this address and port instead; absent: this one has it. */
  readonly conflictsWith?: string;
};

export type RelaySituation = {
  readonly services: Iterable<Service>;
  /** Addresses of the node that traffic enters by, one of each family. */
  readonly nodeAddresses: readonly string[];
  /** The loopback address of node ports. */
  readonly nodePortHost: string;
  readonly octets: LoopbackOctets;
  /** Node ports answer on the loopback of the node alone. */
  readonly nodePortsOnLoopback: boolean;
  /** Whether an address that a Service names has another owner. The node proxy does not serve it either. */
  readonly isForeign: (ip: string) => boolean;
  /** Whether the cluster IPs of Services without the annotation are relayed. */
  readonly allServices: boolean;
};

/** "true": relay the cluster IP. "false": do not. */
export const relayAnnotation = 'fairlead.dev/relay';

/**
 * In a stable order. If several Services request the same address and port, the first by name has it, and external IPs come last:
 * any user may name them.
 */
export function desiredRelays(situation: RelaySituation): readonly Relay[] {
  const services = [...situation.services].sort((a, b) => compare(nameOf(a), nameOf(b)));
  const relays = new Map<string, Relay>();
  const requested = services.flatMap((service) => relaysOf(service, situation));
  const isNamed = ({ purpose }: Relay): boolean => purpose === 'external IP';
  for (const relay of [...requested.filter((one) => !isNamed(one)), ...requested.filter(isNamed)]) {
    const owner = relays.get(relay.key)?.service;
    if (owner === undefined) relays.set(relay.key, relay);
    else if (owner !== relay.service) {
      const key = `${relay.key} of ${relay.service}`;
      relays.set(key, { ...relay, key, conflictsWith: owner });
    }
  }
  return [...relays.values()];
}

function relaysOf(service: Service, situation: RelaySituation): readonly Relay[] {
  const { spec, status, metadata } = service;
  if (metadata.deletionTimestamp !== undefined) return [];
  const ingress = status?.loadBalancer?.ingress ?? [];
  return (spec.ports ?? []).flatMap((servicePort) => {
    const protocol = servicePort.protocol ?? 'TCP';
    if (protocol !== 'TCP' && protocol !== 'UDP') return [];
    const { port, nodePort } = servicePort;
    const make = (part: Omit<Relay, 'key' | 'protocol' | 'service'>): Relay => ({
      key: `${protocol} ${part.listen.host}:${part.listen.port}`,
      protocol,
      service: nameOf(service),
      ...part,
    });
    const toAddress = (ip: string, from: Relay['from'], purpose: Purpose): readonly Relay[] => {
      const host = loopbackFor(ip, situation.octets);
      if (host === undefined) return [];
      return [make({ listen: { host, port }, target: { host: ip, port }, from, purpose })];
    };
    const isOwn = (ip: string): boolean => !situation.isForeign(ip);
    return [
      ...(nodePort === undefined || nodePort === 0
        ? []
        : toNodePort(service, nodePort, situation).map(make)),
      // Nodes do not capture an address with ipMode Proxy: it is reached from outside.
      ...ingress.flatMap(({ ip, ipMode }) =>
        ip === undefined || !isOwn(ip)
          ? []
          : toAddress(ip, ipMode === 'Proxy' ? 'lan' : 'node', 'load balancer'),
      ),
      ...(spec.externalIPs ?? [])
        .filter(isOwn)
        .flatMap((ip) => toAddress(ip, 'node', 'external IP')),
      ...(wantsClusterIP(service, situation)
        ? (spec.clusterIPs ?? []).slice(0, 1).flatMap((ip) => toAddress(ip, 'node', 'cluster IP'))
        : []),
    ];
  });
}

function toNodePort(
  { spec }: Service,
  port: number,
  { nodeAddresses, nodePortsOnLoopback, nodePortHost }: RelaySituation,
): readonly Omit<Relay, 'key' | 'protocol' | 'service'>[] {
  const [family = 'IPv4'] = spec.ipFamilies ?? [];
  const listen = { host: nodePortHost, port };
  const purpose = 'node port';
  // The kernel does not route ::1 to a pod, so that no proxy mode serves it.
  if (nodePortsOnLoopback) {
    const target = { host: '127.0.0.1', port };
    return family === 'IPv4' ? [{ listen, target, from: 'node', purpose }] : [];
  }
  const host = nodeAddresses.find((ip) => parseAddress(ip)?.family === family);
  if (host === undefined) return [];
  return [
    {
      listen,
      target: { host, port },
      // With policy Local a node without endpoints drops what comes from outside, but never what its own processes send.
      from: spec.externalTrafficPolicy === 'Local' ? 'node' : 'lan',
      purpose,
    },
  ];
}

function wantsClusterIP(service: Service, { allServices }: RelaySituation): boolean {
  if (!hasClusterIP(service)) return false;
  const annotation = service.metadata.annotations?.[relayAnnotation];
  return annotation === undefined ? allServices : annotation === 'true';
}

const nameOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

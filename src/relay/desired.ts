// Which doors on this machine's loopback lead into the isolated network, from the Services that there are.
import { parseAddress } from '../ip/address.ts';
import { hasClusterIP } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { type LoopbackOctets, loopbackFor } from './loopback.ts';

export type Protocol = 'TCP' | 'UDP';
export type Purpose = 'node port' | 'load balancer' | 'external IP' | 'cluster IP';
export type Endpoint = { readonly host: string; readonly port: number };

export type Relay = {
  /** `TCP 127.0.0.1:30080`: no two relays share one. */
  readonly key: string;
  readonly protocol: Protocol;
  readonly listen: Endpoint;
  readonly target: Endpoint;
  /** Where connections start: like a stranger on the lan, or like a process of the node, for which its proxy's rules hold. */
  readonly from: 'lan' | 'node';
  readonly purpose: Purpose;
  /** `namespace/name` */
  readonly service: string;
  /** The Service that has this address and port; absent: this one. */
  readonly takenBy?: string;
};

export type RelaySituation = {
  readonly services: Iterable<Service>;
  /** Of the node through which everything goes, one of each family. */
  readonly nodeAddresses: readonly string[];
  /** Where node ports answer here, and what stands for other addresses. */
  readonly nodePortHost: string;
  readonly octets: LoopbackOctets;
  /** Node ports answer on the loopback of the node alone. */
  readonly nodePortsOnLoopback: boolean;
  /** Whether somebody else owns an address that a Service names: its proxy does not serve it, and neither do we. */
  readonly isForeign: (ip: string) => boolean;
  /** Whether Services that do not say otherwise are relayed to their cluster IPs. */
  readonly allServices: boolean;
};

/** "true" asks for a relay to the cluster IP, "false" refuses one. */
export const relayAnnotation = 'fairlead.dev/relay';

/**
 * In a stable order; where two ask for the same address and port, one that only names it as an external IP comes last, and
 * then the Service that comes first by name has it.
 */
export function desiredRelays(situation: RelaySituation): readonly Relay[] {
  const services = [...situation.services].sort((a, b) => compare(nameOf(a), nameOf(b)));
  const found = new Map<string, Relay>();
  const wanted = services.flatMap((service) => relaysOf(service, situation));
  const isNamed = ({ purpose }: Relay): boolean => purpose === 'external IP';
  for (const relay of [...wanted.filter((one) => !isNamed(one)), ...wanted.filter(isNamed)]) {
    const owner = found.get(relay.key)?.service;
    if (owner === undefined) found.set(relay.key, relay);
    else if (owner !== relay.service) {
      const key = `${relay.key} of ${relay.service}`;
      found.set(key, { ...relay, key, takenBy: owner });
    }
  }
  return [...found.values()];
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
      // An address with mode Proxy is not the nodes' own: it is reached from outside.
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
  // The kernel routes no connection from ::1 to a pod: no mode serves it.
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
      // With policy Local a node without endpoints refuses strangers, but never its own processes.
      from: spec.externalTrafficPolicy === 'Local' ? 'node' : 'lan',
      purpose,
    },
  ];
}

function wantsClusterIP(service: Service, { allServices }: RelaySituation): boolean {
  if (!hasClusterIP(service)) return false;
  const asked = service.metadata.annotations?.[relayAnnotation];
  return asked === undefined ? allServices : asked === 'true';
}

const nameOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

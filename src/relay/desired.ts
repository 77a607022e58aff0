// Which doors on this machine's loopback lead into the isolated network, from the Services that there are.
import { type Address, parseAddress } from '../ip/address.ts';
import { hasClusterIP } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';

export type Protocol = 'TCP' | 'UDP';
export type Purpose = 'node port' | 'load balancer' | 'cluster IP';
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
};

export type RelaySituation = {
  readonly services: Iterable<Service>;
  /** Of the node through which everything goes, one of each family. */
  readonly nodeAddresses: readonly string[];
  /** Whether Services that do not say otherwise are relayed to their cluster IPs. */
  readonly allServices: boolean;
};

/** "true" asks for a relay to the cluster IP, "false" refuses one. */
export const relayAnnotation = 'fairlead.dev/relay';

/** In a stable order; where two ask for the same door, the Service that comes first by name has it. */
export function desiredRelays(situation: RelaySituation): readonly Relay[] {
  const services = [...situation.services].sort((a, b) => compare(nameOf(a), nameOf(b)));
  const found = new Map<string, Relay>();
  for (const service of services) {
    for (const relay of relaysOf(service, situation)) {
      if (!found.has(relay.key)) found.set(relay.key, relay);
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
      const host = loopbackFor(ip);
      if (host === undefined) return [];
      return [make({ listen: { host, port }, target: { host: ip, port }, from, purpose })];
    };
    return [
      ...(nodePort === undefined || nodePort === 0
        ? []
        : toNodePort(service, nodePort, situation).map(make)),
      // An address with mode Proxy is not the nodes' own: it is reached from outside.
      ...ingress.flatMap(({ ip, ipMode }) =>
        ip === undefined ? [] : toAddress(ip, ipMode === 'Proxy' ? 'lan' : 'node', 'load balancer'),
      ),
      ...(wantsClusterIP(service, situation)
        ? (spec.clusterIPs ?? []).slice(0, 1).flatMap((ip) => toAddress(ip, 'node', 'cluster IP'))
        : []),
    ];
  });
}

function toNodePort(
  { spec }: Service,
  port: number,
  { nodeAddresses }: RelaySituation,
): readonly Omit<Relay, 'key' | 'protocol' | 'service'>[] {
  const [family] = spec.ipFamilies ?? [];
  const host = nodeAddresses.find((ip) => parseAddress(ip)?.family === (family ?? 'IPv4'));
  if (host === undefined) return [];
  return [
    {
      listen: { host: '127.0.0.1', port },
      target: { host, port },
      // With policy Local a node without endpoints refuses strangers, but never its own processes.
      from: spec.externalTrafficPolicy === 'Local' ? 'node' : 'lan',
      purpose: 'node port',
    },
  ];
}

function wantsClusterIP(service: Service, { allServices }: RelaySituation): boolean {
  if (!hasClusterIP(service)) return false;
  const asked = service.metadata.annotations?.[relayAnnotation];
  return asked === undefined ? allServices : asked === 'true';
}

/** The same last three numbers behind 127: people find it without a list. Stays clear of 127.0, where this machine's own things are. */
export function loopbackFor(ip: string): string | undefined {
  const address: Address | undefined = parseAddress(ip);
  if (address === undefined) return undefined;
  const part = (shift: bigint): number => Number((address.value >> shift) & 0xffn);
  const second = part(16n) === 0 ? insteadOfZero : part(16n);
  return `127.${second}.${part(8n)}.${part(0n)}`;
}

const insteadOfZero = 100;

const nameOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

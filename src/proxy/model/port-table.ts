// The service ports of all Services, each with the addresses that are its own: if several request the same, one has it, and
// when that one is deleted the next gets it.
import { type AddressRank, type AddressRanks, createAddressRanks } from './address-ranks.ts';
import { type Claim, createClaims } from './claims.ts';
import { isSamePort, shareEndpoints } from './same-port.ts';
import type { ServicePort } from './state.ts';

export type PortTable = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  /** Adds or replaces a requested port; `created` is the Service's creation time. */
  readonly put: (port: ServicePort, created: string) => void;
  readonly remove: (key: string) => void;
  /** Updates `ports`, and reports each that differs. */
  readonly settle: () => void;
  /** By port: external IPs that it does not get because they are load balancer addresses, with the Service of the load balancer. */
  readonly outranked: ReadonlyMap<string, readonly Outranked[]>;
};

export type Outranked = { readonly ip: string; readonly service: string };

export type PortTableOptions = {
  readonly changed: PortListener;
  /** As kube-proxy: a load balancer address belongs to its Service on the Service's ports only. */
  readonly allowsForeignAddresses: boolean;
};

export type PortListener = (
  key: string,
  before: ServicePort | undefined,
  after: ServicePort | undefined,
) => void;

type RequestedPort = { readonly port: ServicePort; readonly created: string };

export function createPortTable({ changed, allowsForeignAddresses }: PortTableOptions): PortTable {
  const requested = new Map<string, RequestedPort>();
  const ports = new Map<string, ServicePort>();
  const claims = createClaims();
  const ranks = createAddressRanks();
  const outranked = new Map<string, readonly Outranked[]>();
  const dirty = new Set<string>();

  const markDirty = (keys: readonly string[]): void => {
    for (const key of keys) dirty.add(key);
  };
  const release = (before: ServicePort | undefined, kept: ReadonlySet<string>): void => {
    if (before === undefined) return;
    for (const { name } of claimsOf(before)) {
      if (!kept.has(name)) markDirty(claims.remove(before.key, name));
    }
    for (const ip of [...before.externalIPs, ...before.loadBalancerIPs])
      markDirty(ranks.remove(before.key, ip));
  };
  const settleOne = (key: string): void => {
    const before = ports.get(key);
    const port = requested.get(key)?.port;
    const lost = port === undefined || allowsForeignAddresses ? [] : outrankedOf(port, ranks);
    if (lost.length === 0) outranked.delete(key);
    else outranked.set(key, lost);
    const after = port && withOwnClaims(without(port, lost), claims.has);
    if (after === before || (after && before && isSamePort(before, after))) return;
    if (after === undefined) ports.delete(key);
    else ports.set(key, after);
    changed(key, before, after);
  };

  return {
    ports,
    outranked,
    put(port, created) {
      const before = requested.get(port.key);
      if (before?.created === created && isSamePort(before.port, port)) return;
      const kept = before === undefined ? port : shareEndpoints(before.port, port);
      requested.set(port.key, { port: kept, created });
      dirty.add(port.key);
      const claimed = claimsOf(port);
      release(before?.port, new Set(claimed.map(({ name }) => name)));
      for (const claim of claimed) markDirty(claims.add({ portKey: port.key, created }, claim));
      for (const [rank, ips] of addressesOf(port))
        for (const ip of ips)
          markDirty(ranks.add({ portKey: port.key, service: serviceOf(port), rank }, ip));
    },
    remove(key) {
      const before = requested.get(key);
      if (!requested.delete(key)) return;
      dirty.add(key);
      release(before?.port, new Set());
    },
    settle() {
      for (const key of dirty) settleOne(key);
      dirty.clear();
    },
  };
}

function claimsOf(port: ServicePort): readonly Claim[] {
  return [
    ...(port.clusterIP === undefined
      ? []
      : [{ name: addressClaim(port, port.clusterIP), rank: 'clusterIP' as const }]),
    ...addressesOf(port).flatMap(([kind, ips]) => {
      const rank = kind === 'loadBalancer' ? kind : 'other';
      return ips.map((ip) => ({ name: addressClaim(port, ip), rank }) as const);
    }),
    ...(port.nodePort === undefined
      ? []
      : [{ name: nodePortClaim(port, port.nodePort), rank: 'other' as const }]),
  ];
}

const addressesOf = (port: ServicePort): readonly (readonly [AddressRank, readonly string[]])[] => [
  ['loadBalancer', port.loadBalancerIPs],
  ['externalIP', port.externalIPs],
];

const serviceOf = ({ namespace, name }: ServicePort): string => `${namespace}/${name}`;

function outrankedOf(port: ServicePort, { balancerOf }: AddressRanks): readonly Outranked[] {
  return port.externalIPs.flatMap((ip) => {
    const service = balancerOf(serviceOf(port), ip);
    return service === undefined ? [] : [{ ip, service }];
  });
}

function without(port: ServicePort, lost: readonly Outranked[]): ServicePort {
  if (lost.length === 0) return port;
  const ips = new Set(lost.map(({ ip }) => ip));
  return { ...port, externalIPs: port.externalIPs.filter((ip) => !ips.has(ip)) };
}

// Joined, not put together with +: such texts are kept in one piece.
const addressClaim = ({ port, protocol }: ServicePort, ip: string): string =>
  [ip, port, protocol].join(' ');
const nodePortClaim = ({ protocol }: ServicePort, nodePort: number): string =>
  `${nodePort} ${protocol}`;

/** The port with only those addresses that are its own; itself when all are. */
function withOwnClaims(
  port: ServicePort,
  has: (portKey: string, name: string) => boolean,
): ServicePort {
  const isOwn = (ip: string): boolean => has(port.key, addressClaim(port, ip));
  const hasNodePort =
    port.nodePort === undefined || has(port.key, nodePortClaim(port, port.nodePort));
  const hasClusterIP = port.clusterIP === undefined || isOwn(port.clusterIP);
  const externalIPs = port.externalIPs.filter(isOwn);
  const loadBalancerIPs = port.loadBalancerIPs.filter(isOwn);
  const hasAllOthers =
    externalIPs.length === port.externalIPs.length &&
    loadBalancerIPs.length === port.loadBalancerIPs.length;
  if (hasNodePort && hasClusterIP && hasAllOthers) return port;
  const { clusterIP, nodePort, ...rest } = port;
  return {
    ...rest,
    ...(hasClusterIP && clusterIP !== undefined ? { clusterIP } : {}),
    ...(hasNodePort && nodePort !== undefined ? { nodePort } : {}),
    externalIPs,
    loadBalancerIPs,
  };
}

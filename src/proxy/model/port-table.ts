// The service ports of all Services, each with the addresses that are its own: where several ask for the same, one has it,
// and when that one goes the next gets it.
import { type AddressRank, type AddressRanks, createAddressRanks } from './address-ranks.ts';
import { type Claim, createClaims } from './claims.ts';
import { isSamePort, shareEndpoints } from './same-port.ts';
import type { ServicePort } from './state.ts';

export type PortTable = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  /** Takes what a Service asks for; `created` is when the Service was made. */
  readonly put: (port: ServicePort, created: string) => void;
  readonly remove: (key: string) => void;
  /** Brings `ports` up to date, telling each that differs. */
  readonly settle: () => void;
  /** By port: external IPs that it does not get because a balancer has them, and of which Service that is. */
  readonly outranked: ReadonlyMap<string, readonly Outranked[]>;
};

export type Outranked = { readonly ip: string; readonly service: string };

export type PortTableOptions = {
  readonly changed: PortListener;
  /** As kube-proxy: the address of a balancer is its Service's on the ports that it serves, and no others. */
  readonly allowsForeignAddresses: boolean;
};

export type PortListener = (
  key: string,
  before: ServicePort | undefined,
  after: ServicePort | undefined,
) => void;

type Asked = { readonly port: ServicePort; readonly created: string };

export function createPortTable({ changed, allowsForeignAddresses }: PortTableOptions): PortTable {
  const asked = new Map<string, Asked>();
  const ports = new Map<string, ServicePort>();
  const claims = createClaims();
  const ranks = createAddressRanks();
  const outranked = new Map<string, readonly Outranked[]>();
  const touched = new Set<string>();

  const touch = (keys: readonly string[]): void => {
    for (const key of keys) touched.add(key);
  };
  const giveUp = (before: ServicePort | undefined, kept: ReadonlySet<string>): void => {
    if (before === undefined) return;
    for (const { name } of claimsOf(before)) {
      if (!kept.has(name)) touch(claims.remove(before.key, name));
    }
    for (const ip of [...before.externalIPs, ...before.loadBalancerIPs])
      touch(ranks.remove(before.key, ip));
  };
  const settleOne = (key: string): void => {
    const before = ports.get(key);
    const port = asked.get(key)?.port;
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
      const before = asked.get(port.key);
      if (before?.created === created && isSamePort(before.port, port)) return;
      const kept = before === undefined ? port : shareEndpoints(before.port, port);
      asked.set(port.key, { port: kept, created });
      touched.add(port.key);
      const wanted = claimsOf(port);
      giveUp(before?.port, new Set(wanted.map(({ name }) => name)));
      for (const claim of wanted) touch(claims.add({ portKey: port.key, created }, claim));
      for (const [rank, ips] of addressesOf(port))
        for (const ip of ips)
          touch(ranks.add({ portKey: port.key, service: serviceOf(port), rank }, ip));
    },
    remove(key) {
      const before = asked.get(key);
      if (!asked.delete(key)) return;
      touched.add(key);
      giveUp(before?.port, new Set());
    },
    settle() {
      for (const key of touched) settleOne(key);
      touched.clear();
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
  const keepsNodePort =
    port.nodePort === undefined || has(port.key, nodePortClaim(port, port.nodePort));
  const keepsClusterIP = port.clusterIP === undefined || isOwn(port.clusterIP);
  const externalIPs = port.externalIPs.filter(isOwn);
  const loadBalancerIPs = port.loadBalancerIPs.filter(isOwn);
  const keepsOthers =
    externalIPs.length === port.externalIPs.length &&
    loadBalancerIPs.length === port.loadBalancerIPs.length;
  if (keepsNodePort && keepsClusterIP && keepsOthers) return port;
  const { clusterIP, nodePort, ...rest } = port;
  return {
    ...rest,
    ...(keepsClusterIP && clusterIP !== undefined ? { clusterIP } : {}),
    ...(keepsNodePort && nodePort !== undefined ? { nodePort } : {}),
    externalIPs,
    loadBalancerIPs,
  };
}

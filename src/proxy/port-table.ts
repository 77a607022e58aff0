// The service ports of all Services, each with the addresses that are its own: where several ask for the same, one has it,
// and when that one goes the next gets it.
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
};

export type PortListener = (
  key: string,
  before: ServicePort | undefined,
  after: ServicePort | undefined,
) => void;

type Asked = { readonly port: ServicePort; readonly created: string };

export function createPortTable(changed: PortListener): PortTable {
  const asked = new Map<string, Asked>();
  const ports = new Map<string, ServicePort>();
  const claims = createClaims();
  const touched = new Set<string>();

  const touch = (keys: readonly string[]): void => {
    for (const key of keys) touched.add(key);
  };
  const giveUp = (before: ServicePort | undefined, kept: ReadonlySet<string>): void => {
    if (before === undefined) return;
    for (const { name } of claimsOf(before)) {
      if (!kept.has(name)) touch(claims.remove(before.key, name));
    }
  };
  const settleOne = (key: string): void => {
    const before = ports.get(key);
    const port = asked.get(key)?.port;
    const after = port === undefined ? undefined : withOwnClaims(port, claims.has);
    if (after === before || (after && before && isSamePort(before, after))) return;
    if (after === undefined) ports.delete(key);
    else ports.set(key, after);
    changed(key, before, after);
  };

  return {
    ports,
    put(port, created) {
      const before = asked.get(port.key);
      if (before?.created === created && isSamePort(before.port, port)) return;
      const kept = before === undefined ? port : shareEndpoints(before.port, port);
      asked.set(port.key, { port: kept, created });
      touched.add(port.key);
      const wanted = claimsOf(port);
      giveUp(before?.port, new Set(wanted.map(({ name }) => name)));
      for (const claim of wanted) touch(claims.add({ portKey: port.key, created }, claim));
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
  const others = [...port.externalIPs, ...port.loadBalancerIPs];
  return [
    ...(port.clusterIP === undefined
      ? []
      : [{ name: addressClaim(port, port.clusterIP), isClusterIP: true }]),
    ...others.map((ip) => ({ name: addressClaim(port, ip), isClusterIP: false })),
    ...(port.nodePort === undefined
      ? []
      : [{ name: nodePortClaim(port, port.nodePort), isClusterIP: false }]),
  ];
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

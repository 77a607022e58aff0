// Names of chains. They are upstream's (pkg/proxy/iptables), because people and other programs look for them.
import { createHash } from 'node:crypto';
import type { Endpoint, Protocol, ServicePort } from '../../model/state.ts';
import type { Table } from './rules.ts';

export const chainNames = {
  services: 'KUBE-SERVICES',
  nodePorts: 'KUBE-NODEPORTS',
  postrouting: 'KUBE-POSTROUTING',
  markMasquerade: 'KUBE-MARK-MASQ',
  externalServices: 'KUBE-EXTERNAL-SERVICES',
  /** Ours: node ports without endpoints, which upstream keeps in KUBE-EXTERNAL-SERVICES. */
  closedPorts: 'KUBE-CLOSED-PORTS',
  forward: 'KUBE-FORWARD',
  proxyFirewall: 'KUBE-PROXY-FIREWALL',
  /** Shared with kubelet: only a rule of it is ours. */
  firewall: 'KUBE-FIREWALL',
  canary: 'KUBE-PROXY-CANARY',
} as const;

/** `KUBE-XLB-` is what upstream called `KUBE-EXT-` before 1.25. */
const perPort = /^KUBE-(?:SVC|SVL|EXT|FW|SEP|XLB)-[A-Z2-7]{16}$/;
/** A dispatch chain, or a part of one (see dispatch.ts). */
const dispatch =
  /^KUBE-(?:SERVICES|NODEPORTS|EXTERNAL-SERVICES|CLOSED-PORTS|PROXY-FIREWALL)(?:-[0-9A-Z-]+)?$/;

/** What kube-proxy's userspace mode had until 1.25 (USR-11): ours goes through the chains above, and theirs are removed. */
const portals: Readonly<Record<Table, readonly string[]>> = {
  nat: [
    ...['KUBE-PORTALS-CONTAINER', 'KUBE-PORTALS-HOST'],
    ...['KUBE-NODEPORT-CONTAINER', 'KUBE-NODEPORT-HOST'],
  ],
  filter: ['KUBE-NODEPORT-NON-LOCAL'],
  mangle: [],
};

const ownNames: Readonly<Record<Table, ReadonlySet<string>>> = {
  nat: new Set([
    chainNames.postrouting,
    chainNames.markMasquerade,
    chainNames.canary,
    ...portals.nat,
  ]),
  filter: new Set([chainNames.forward, chainNames.canary, ...portals.filter]),
  mangle: new Set([chainNames.canary]),
};

/** Whether a chain of the table is this mode's alone, from this run, an earlier one or kube-proxy. */
export function isOwnChain(table: Table, name: string): boolean {
  if (ownNames[table].has(name)) return true;
  if (table === 'mangle') return false;
  return dispatch.test(name) || (table === 'nat' && perPort.test(name));
}

/** The chains of one service port. */
export type PortChainNames = {
  /** Spreads over what policy Cluster allows. */
  readonly cluster: string;
  /** Spreads over what policy Local allows. */
  readonly local: string;
  /** Where traffic from outside comes in. */
  readonly external: string;
  /** Who may come in through a load balancer's address. */
  readonly firewall: string;
  readonly endpoint: (endpoint: Endpoint) => string;
};

export function portChainNames(port: ServicePort): PortChainNames {
  const text = `${displayName(port)}${protocolName(port.protocol)}`;
  const suffix = shortHash(text);
  return {
    cluster: `KUBE-SVC-${suffix}`,
    local: `KUBE-SVL-${suffix}`,
    external: `KUBE-EXT-${suffix}`,
    firewall: `KUBE-FW-${suffix}`,
    endpoint: ({ ip, port }) =>
      `KUBE-SEP-${shortHash(`${text}${ip.includes(':') ? `[${ip}]` : ip}:${port}`)}`,
  };
}

/** `namespace/name:port`, the port left out where it has no name: what comments say. */
export function displayName({ namespace, name, portName }: ServicePort): string {
  return portName === '' ? `${namespace}/${name}` : `${namespace}/${name}:${portName}`;
}

export function protocolName(protocol: Protocol): 'tcp' | 'udp' | 'sctp' {
  const names = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;
  return names[protocol];
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const hashCharacters = 16;

/** The first 16 characters of the base32 text of the SHA-256. */
function shortHash(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  let characters = '';
  let pending = 0;
  let bits = 0;
  for (const byte of digest) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5 && characters.length < hashCharacters) {
      bits -= 5;
      characters += alphabet[(pending >> bits) & 31];
    }
    if (characters.length === hashCharacters) return characters;
    pending &= 0xff;
  }
  return characters;
}

// Seeded random states and packets for tests: odd, but such as the model makes from objects that the API allows.
import type { Packet } from '../packets/packet.ts';
import type {
  Endpoint,
  Family,
  LocalTraffic,
  NodePortAddresses,
  NodeState,
  Protocol,
  ProxyState,
  ServicePort,
} from './state.ts';

export type Random = {
  /** A whole number from 0 up to, but not, the given one. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(choices: readonly [T, ...T[]]) => T;
  /** True in so many of a hundred cases. */
  readonly percent: (share: number) => boolean;
  /** Each with the same chance, in their order. */
  readonly some: <T>(choices: readonly T[], percent: number) => readonly T[];
};

/** mulberry32: small, and good enough to mix cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const percent = (share: number): boolean => below(100) < share;
  return {
    below,
    percent,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    some: (choices, share) => choices.filter(() => percent(share)),
  };
}

type Addresses = {
  readonly nodeIPs: readonly [string, ...string[]];
  readonly loopback: string;
  readonly cluster: (n: number) => string;
  readonly unusedCluster: string;
  /** Shared by several Services under different ports; the last is an address of the node. */
  readonly external: readonly [string, ...string[]];
  readonly pod: (node: number, n: number) => string;
  readonly outside: readonly [string, ...string[]];
  /** An endpoint that is no pod. */
  readonly machine: string;
  readonly podRange: string;
  readonly serviceRange: string;
  readonly sourceRanges: readonly [string, ...string[]];
};

const addresses: Readonly<Record<Family, Addresses>> = {
  IPv4: {
    nodeIPs: ['10.20.0.11', '10.244.1.1', '198.51.100.11'],
    loopback: '127.0.0.1',
    cluster: (n) => `10.96.0.${n + 10}`,
    unusedCluster: '10.96.255.7',
    external: ['203.0.113.1', '203.0.113.2', '203.0.113.3', '198.51.100.11'],
    pod: (node, n) => `10.244.${node}.${n + 10}`,
    outside: ['10.20.0.100', '10.20.0.101', '192.0.2.77'],
    machine: '192.0.2.200',
    podRange: '10.244.0.0/16',
    serviceRange: '10.96.0.0/16',
    sourceRanges: [
      '10.20.0.0/24',
      '10.20.0.100/32',
      '10.20.0.64/26',
      '192.0.2.0/25',
      '10.244.1.0/24',
    ],
  },
  IPv6: {
    nodeIPs: ['fd20::11', 'fd44:1::1', '2001:db8:1::11'],
    loopback: '::1',
    cluster: (n) => `fd00:96::${(n + 16).toString(16)}`,
    unusedCluster: 'fd00:96::ff07',
    external: ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:1::11'],
    pod: (node, n) => `fd44:${node}::${(n + 16).toString(16)}`,
    outside: ['fd20::100', 'fd20::101', '2001:db8:9::77'],
    machine: '2001:db8:9::200',
    podRange: 'fd44::/16',
    serviceRange: 'fd00:96::/108',
    sourceRanges: ['fd20::/64', 'fd20::100/128', 'fd20::100/120', '2001:db8:9::/48', 'fd44:1::/64'],
  },
};

const protocols = ['TCP', 'UDP', 'SCTP'] as const satisfies readonly Protocol[];

export type RandomStateOptions = {
  readonly family?: Family;
  /** At most so many service ports. */
  readonly maxPorts?: number;
  readonly protocols?: readonly [Protocol, ...Protocol[]];
};

export function randomState(random: Random, options: RandomStateOptions = {}): ProxyState {
  const family = options.family ?? random.pick(['IPv4', 'IPv6']);
  const ports = new Map<string, ServicePort>();
  const claims = new Set<string>();
  const count = 1 + random.below(options.maxPorts ?? 12);
  for (let n = 0; n < count; n += 1) {
    const port = randomPort(random, { family, n, claims, protocols: options.protocols });
    ports.set(port.key, port);
  }
  return { node: randomNode(random, family), ports };
}

export function randomNode(random: Random, family: Family): NodeState {
  const { nodeIPs, serviceRange } = addresses[family];
  return {
    family,
    nodeName: 'n1',
    nodeIPs,
    nodePortAddresses: random.pick<NodePortAddresses>(['all', [nodeIPs[0]], nodeIPs, []]),
    localTraffic: random.pick(localTraffics(family)),
    masqueradeAll: random.percent(20),
    masqueradeMark: random.pick([0x4000, 0x4000, 0x1, 0x80000000]),
    serviceCIDRs: random.pick([[serviceRange], [serviceRange], []]),
  };
}

function localTraffics(family: Family): readonly [LocalTraffic, ...LocalTraffic[]] {
  return [
    { kind: 'unknown' },
    { kind: 'cidr', cidr: addresses[family].podRange },
    { kind: 'cidr', cidr: addresses[family].podRange },
    { kind: 'interface', name: 'pods' },
    { kind: 'interface-prefix', prefix: 'veth' },
  ];
}

type PortPlan = {
  readonly family: Family;
  readonly n: number;
  /** What is taken already; grows. */
  readonly claims: Set<string>;
  readonly protocols: readonly [Protocol, ...Protocol[]] | undefined;
};

function randomPort(random: Random, { family, n, claims, ...plan }: PortPlan): ServicePort {
  const { cluster, external, sourceRanges } = addresses[family];
  const protocol = random.pick(plan.protocols ?? protocols);
  const port = random.pick([53, 80, 80, 443, 1 + random.below(65535)]);
  const isFree = (address: string | number): boolean => {
    const claim = `${address}:${typeof address === 'number' ? '' : port}/${protocol}`;
    if (claims.has(claim)) return false;
    claims.add(claim);
    return true;
  };
  // Ports of one Service share its cluster IP; two Services in a row make one here and there.
  const clusterIP = cluster(random.percent(30) ? Math.max(n - 1, 0) : n);
  const nodePort = 30000 + random.below(2768);
  const hasBalancer = random.percent(35);
  return {
    ...names(random, n, protocol),
    port,
    ...(isFree(clusterIP) ? { clusterIP } : {}),
    ...(random.percent(50) && isFree(nodePort) ? { nodePort } : {}),
    externalIPs: random.some(external, 20).filter(isFree),
    loadBalancerIPs: hasBalancer ? random.some(external, 50).filter(isFree) : [],
    ...(hasBalancer && random.percent(60) ? { sourceRanges: random.some(sourceRanges, 40) } : {}),
    allowsBalancerItself: random.percent(30),
    ...(random.percent(25) ? { affinitySeconds: random.pick([1, 10, 10800, 86400]) } : {}),
    ...policies(random, family),
  };
}

function names(
  random: Random,
  n: number,
  protocol: Protocol,
): Pick<ServicePort, 'key' | 'namespace' | 'name' | 'portName' | 'protocol'> {
  // Upstream's longest: names of 63 characters in everything that a rule's name could be made of.
  const isLong = random.percent(10);
  const namespace = isLong ? 'n'.repeat(63) : random.pick(['default', 'kube-system']);
  const name = isLong ? `${'s'.repeat(60)}${n}` : `web-${n}`;
  const portName = isLong ? 'p'.repeat(63) : random.pick(['', 'http', 'a']);
  return {
    key: `${namespace}/${name}:${portName}/${protocol}`,
    namespace,
    name,
    portName,
    protocol,
  };
}

function policies(
  random: Random,
  family: Family,
): Pick<
  ServicePort,
  'internalPolicy' | 'externalPolicy' | 'clusterEndpoints' | 'localEndpoints' | 'hasEndpoints'
> {
  const internalPolicy = random.percent(20) ? 'Local' : 'Cluster';
  const externalPolicy = random.percent(35) ? 'Local' : 'Cluster';
  const here = randomEndpoints(random, family, 1);
  const elsewhere = randomEndpoints(random, family, 2);
  const all = [...here, ...elsewhere];
  // A terminating endpoint here may serve policy Local while ready ones elsewhere serve policy Cluster, and hints may
  // leave this node's endpoints out.
  const cluster = elsewhere.length > 0 && random.percent(15) ? elsewhere : all;
  return {
    internalPolicy,
    externalPolicy,
    clusterEndpoints: cluster,
    localEndpoints: internalPolicy === 'Local' || externalPolicy === 'Local' ? here : [],
    hasEndpoints: all.length > 0,
  };
}

function randomEndpoints(random: Random, family: Family, node: number): readonly Endpoint[] {
  const { pod, nodeIPs, machine } = addresses[family];
  const count = random.pick([0, 1, 1, 2, 3, 5]);
  const endpoints = new Map<string, Endpoint>();
  for (let i = 0; i < count; i += 1) {
    const n = random.below(200);
    // Pods on the host's network have the node's address, and slices by hand may name anything.
    const ip = random.percent(90) ? pod(node, n) : node === 1 ? nodeIPs[0] : machine;
    const port = random.pick([9376, 9376, 80, 65535]);
    endpoints.set(`${ip} ${port}`, { ip, port, isLocal: node === 1 });
  }
  return [...endpoints.values()];
}

/**
 * A packet that has something to do with the state, most times. None comes from a pod of another node that is an
 * endpoint: the proxy of that node has decided already.
 */
export function randomPacket(random: Random, state: ProxyState): Packet {
  const port = random.pick([...state.ports.values()] as [ServicePort, ...ServicePort[]]);
  const target = randomTarget(random, state, port);
  const isLoopback = target.destination === addresses[state.node.family].loopback;
  const sender = randomSender(random, state, { port, isLoopback });
  const isToNode = isLoopback || state.node.nodeIPs.includes(target.destination);
  const protocol = random.percent(90) ? port.protocol : random.pick(protocols);
  return { family: state.node.family, protocol, ...target, ...sender, isToNode };
}

function randomTarget(
  random: Random,
  { node }: ProxyState,
  port: ServicePort,
): Pick<Packet, 'destination' | 'destinationPort'> {
  const { loopback, unusedCluster, external, outside, nodeIPs } = addresses[node.family];
  const own = [port.clusterIP, ...port.externalIPs, ...port.loadBalancerIPs].filter(
    (ip) => ip !== undefined,
  );
  if (own.length > 0 && random.percent(60)) {
    const destination = random.pick(own as [string, ...string[]]);
    return {
      destination,
      destinationPort: random.percent(90) ? port.port : 1 + random.below(65535),
    };
  }
  if (random.percent(70)) {
    const destination = random.pick([...nodeIPs, loopback] as [string, ...string[]]);
    return { destination, destinationPort: port.nodePort ?? port.port };
  }
  const destination = random.pick([unusedCluster, ...external, outside[0]]);
  return { destination, destinationPort: port.port };
}

function randomSender(
  random: Random,
  { node }: ProxyState,
  { port, isLoopback }: { readonly port: ServicePort; readonly isLoopback: boolean },
): Pick<Packet, 'origin' | 'source' | 'inputInterface' | 'isFromNode'> {
  const { loopback, nodeIPs, outside, pod } = addresses[node.family];
  if (isLoopback) return { origin: 'local', source: loopback, isFromNode: true };
  if (random.percent(20)) {
    // A balancer's address may be set on the node, and then packets from the node to it have it as their source.
    const source = random.pick([...nodeIPs, ...port.loadBalancerIPs] as [string, ...string[]]);
    return { origin: 'local', source, isFromNode: true };
  }
  if (random.percent(35)) {
    const source = random.percent(70) ? random.pick(outside) : pod(9, 9);
    return { origin: 'forwarded', source, inputInterface: 'eth0', isFromNode: false };
  }
  const inputInterface = random.pick(['pods', 'veth12ab', 'podsx', 'vet']);
  const pods = [...port.clusterEndpoints, ...port.localEndpoints]
    .filter((endpoint) => endpoint.isLocal && !node.nodeIPs.includes(endpoint.ip))
    .map((endpoint) => endpoint.ip);
  const source = random.pick([pod(1, 240), ...pods]);
  return { origin: 'forwarded', source, inputInterface, isFromNode: false };
}

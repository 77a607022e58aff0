// `--network isolated`: LAN and nodes are in network namespaces of their own; relays on this machine's loopback lead to them.
import { readFileSync } from 'node:fs';
import type { Dial } from '../apiserver/proxy/forward.ts';
import { claimName } from '../host/claim-name.ts';
import { systemClock } from '../host/clock.ts';
import { type Cidr, formatCidr } from '../ip/cidr.ts';
import { createOwnerLookup } from '../kinds/service/address-owners.ts';
import { isLoopbackOnly } from '../proxy/node-view/node-addresses.ts';
import { type Inside, startRelays } from '../relay/run.ts';
import {
  type Claimed,
  claimLoopback,
  type LoopbackClaims,
  sharedText,
} from '../relay/run-claims.ts';
import { balancerPools } from './balancer-pools.ts';
import { machineFamilies, readHostRanges } from './build-lan.ts';
import { followPodRanges } from './follow-pod-ranges.ts';
import { type LanPlan, planLan } from './plan-lan.ts';
import type { ClusterRun } from './run-cluster.ts';
import type { ClusterLayout } from './start-cluster.ts';
import { type Lan, startLanThread } from './start-lan-thread.ts';
import { podRangesOf, type UpFlags } from './up-flags.ts';

export type IsolatedNetwork = {
  readonly plan: LanPlan;
  readonly lan: Lan;
  readonly loopback: LoopbackClaims;
};

export async function makeIsolatedNetwork(flags: UpFlags): Promise<IsolatedNetwork> {
  const plan = planLan({
    nodeCount: flags.nodes,
    usedRanges: await readHostRanges(),
    families: machineFamilies(),
    ...(flags.lanCidr === undefined ? {} : { ranges: flags.lanCidr }),
  });
  const [lan, loopback] = await Promise.all([startLanThread(plan), claimLoopback(claimName)]);
  return { plan, lan, loopback };
}

const dnsPort = 53;

function isolatedLayout(flags: UpFlags, { plan, lan }: IsolatedNetwork): ClusterLayout {
  const families = plan.ranges.map(({ family }) => family);
  const [advertiseAddress = ''] = plan.gateways;
  const pools = balancerPools(flags, plan);
  // The LAN has routes to nodes and pods.
  const dial: Dial = (host, port) => lan.connect(lan.path, { host, port });
  return {
    server: {
      advertiseAddress,
      serverNames: plan.gateways,
      listenAlso: (port) => plan.gateways.map((host) => lan.listen({ host, port })),
      dial,
      dialNode: dial,
    },
    nodes: plan.nodes.map((node, index) => ({
      ...node,
      namespacePath: lan.nodePaths[index] ?? '',
    })),
    dns: {
      listen: plan.gateways.map((host) => ({ host, port: dnsPort })),
      openSockets: (address) => ({
        udp: lan.bindDescriptor(address),
        tcp: lan.listen(address),
      }),
    },
    podRanges: podRangesOf(flags, families),
    ...(pools === undefined ? {} : { balancerPools: pools }),
  };
}

export function isolatedRun(flags: UpFlags, network: IsolatedNetwork): ClusterRun {
  const { lan, plan, loopback } = network;
  const ranges = plan.ranges.map(formatCidr).join(', ');
  const layout = isolatedLayout(flags, network);
  const isForeign = foreignAddresses({
    ...{ serviceRanges: flags.serviceClusterIpRange, podRanges: layout.podRanges },
    ...{ nodes: layout.nodes, serverAddress: layout.server.advertiseAddress },
  });
  return {
    layout,
    outsidePath: lan.path,
    networkText: `isolated: ${flags.nodes} node${flags.nodes === 1 ? '' : 's'} and all pods in namespaces of their own, ${rightsText()}, on ${ranges}`,
    fromHere: fromHereText(loopback.nodePorts),
    extras: (report) => async (cluster, signal) => {
      const caller = { transport: cluster.transport, userAgent: 'fairlead-up' };
      const { log } = cluster.started;
      await Promise.all([
        followPodRanges({ caller, log, addRoute: lan.addRoute }, signal),
        startRelays(
          {
            ...{ caller, log, clock: systemClock },
            nodeAddresses: plan.nodes[0]?.addresses ?? [],
            nodePortsOnLoopback: isLoopbackOnly(flags.nodeportAddresses ?? []),
            allServices: flags.relayServices ?? false,
            isForeign: flags.allowForeignAddresses ? () => false : isForeign,
            inside: socketsInside(network),
            loopback,
            changed: report,
          },
          signal,
        ),
      ]);
    },
    release: () => {
      loopback.release();
      return lan.release();
    },
  };
}

function fromHereText({ value, isShared }: Claimed<string>): string {
  const text = `node ports answer on ${value}, load balancers and external IPs on addresses of their own (\`status\` lists them)`;
  return isShared ? `${text}\nWarning: ${value}: ${sharedText}` : text;
}

/** A user namespace made without root maps a single user. */
function rightsText(): string {
  const [, , count = ''] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/);
  return count === '1' ? 'in a user namespace without root' : 'as root';
}

function socketsInside({ lan }: IsolatedNetwork): Inside {
  const path = (from: 'lan' | 'node'): string =>
    from === 'lan' ? lan.path : (lan.nodePaths[0] ?? lan.path);
  return {
    connect: (from, target) => lan.connect(path(from), target, { allowHalfOpen: true }),
    bind: (from, { host }) =>
      lan.bind(path(from), { host: host.includes(':') ? '::' : '0.0.0.0', port: 0 }),
  };
}

type ReservedAddresses = {
  readonly serviceRanges: readonly Cidr[];
  readonly podRanges: readonly Cidr[];
  readonly nodes: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  readonly serverAddress: string;
};

/** Addresses of the network that no Service may claim: relays ignore such claims, as the proxies on the nodes do. */
function foreignAddresses(reserved: ReservedAddresses): (ip: string) => boolean {
  const server = { name: 'of the API server', addresses: [reserved.serverAddress] };
  const ownerOf = createOwnerLookup(
    {
      serviceRanges: reserved.serviceRanges.map(formatCidr),
      podRanges: reserved.podRanges.map(formatCidr),
      nodes: [...reserved.nodes, server].flatMap(({ name, addresses }) =>
        addresses.map((ip) => [ip, name] as const),
      ),
    },
    () => undefined,
  );
  return (ip) => ownerOf(ip) !== undefined;
}

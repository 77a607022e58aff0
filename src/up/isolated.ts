// The isolated network: lan and nodes in namespaces of their own. Sockets for this machine's users stay outside.
import type { Dial } from '../apiserver/proxy/forward.ts';
import { claimName } from '../host/claim-name.ts';
import { claimLoopback, type LoopbackClaims } from '../relay/run-claims.ts';
import { balancerPools } from './balancer-pools.ts';
import { machineFamilies, readHostRanges } from './build-lan.ts';
import { type LanPlan, planLan } from './plan-lan.ts';
import type { ClusterPlace } from './start-cluster.ts';
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
    taken: await readHostRanges(),
    families: machineFamilies(),
    ...(flags.lanCidr === undefined ? {} : { ranges: flags.lanCidr }),
  });
  const [lan, loopback] = await Promise.all([startLanThread(plan), claimLoopback(claimName)]);
  return { plan, lan, loopback };
}

const dnsPort = 53;

export function isolatedPlace(flags: UpFlags, { plan, lan }: IsolatedNetwork): ClusterPlace {
  const families = plan.ranges.map(({ family }) => family);
  const [advertiseAddress = ''] = plan.gateways;
  const pools = balancerPools(flags, plan);
  // The lan has routes to nodes and to pods.
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

// A cluster with a network, from start to end, as a person sees it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FailedError, type World } from '../flags/command.ts';
import { packageVersion } from '../flags/package-version.ts';
import { describeRanges } from '../flags/server-flags.ts';
import { removeState, type UpState, writeState } from '../flags/state-file.ts';
import { systemClock } from '../host/clock.ts';
import { formatCidr } from '../ip/cidr.ts';
import { isLoopbackOnly } from '../proxy/node-view/node-addresses.ts';
import { type Inside, type RelayState, startRelays } from '../relay/run.ts';
import { type Claimed, sharedText } from '../relay/run-claims.ts';
import { describePools } from './balancer-pools.ts';
import { dataDirArgument } from './data-dir-flag.ts';
import { followPodRanges } from './follow-pod-ranges.ts';
import { foreignAddresses } from './foreign-addresses.ts';
import { type IsolatedNetwork, isolatedPlace } from './isolated.ts';
import { createProgress } from './progress.ts';
import { renderScreen } from './screen.ts';
import { type Cluster, type ClusterPlace, clusterDomain, startCluster } from './start-cluster.ts';
import { relayLine } from './status-text.ts';
import { programName, shownPath, untilInterrupted } from './terminal.ts';
import type { UpFlags } from './up-flags.ts';
import { visiblePid } from './visible-pid.ts';

/** What a network adds beside the cluster itself, until the signal ends it. */
export type NetworkExtras = (cluster: Cluster, signal: AbortSignal) => Promise<void>;

export type ClusterRun = {
  readonly place: ClusterPlace;
  readonly networkText: string;
  /** The network beside the nodes, where there is one. */
  readonly outsidePath?: string;
  /** How Services are reached from this machine. */
  readonly fromHere: string;
  /** Told what relays there are. */
  readonly extras: (tell: (relays: readonly RelayState[]) => void) => NetworkExtras;
  /** After everything has ended. */
  readonly release: () => Promise<void>;
};

export function isolatedRun(flags: UpFlags, network: IsolatedNetwork): ClusterRun {
  const { lan, plan, loopback } = network;
  const ranges = plan.ranges.map(formatCidr).join(', ');
  const place = isolatedPlace(flags, network);
  const isForeign = foreignAddresses({
    ...{ serviceRanges: flags.serviceClusterIpRange, podRanges: place.podRanges },
    ...{ nodes: place.nodes, serverAddress: place.server.advertiseAddress },
  });
  return {
    place,
    outsidePath: lan.path,
    networkText: `isolated: ${flags.nodes} node${flags.nodes === 1 ? '' : 's'} and all pods in namespaces of their own, ${rightsText()}, on ${ranges}`,
    fromHere: fromHereText(loopback.nodePorts),
    extras: (tell) => async (cluster, signal) => {
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
            changed: tell,
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

/** With root's rights, or with those that everybody has in a user namespace: there only one user is known. */
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

export async function runCluster(flags: UpFlags, run: ClusterRun, world: World): Promise<void> {
  const progress = createProgress(world);
  const cluster = await progress('starting', startCluster(flags, run.place, world)).catch(
    async (error: unknown) => {
      // The thread of the lan would keep the process from ending.
      await run.release();
      throw error;
    },
  );
  const ending = new AbortController();
  let state = firstState(flags, run, cluster, world);
  const show = (change: Partial<UpState>): void => {
    state = { ...state, ...change };
    writeState(state);
  };
  let warned: readonly string[] = [];
  const extras = run.extras((relays) => {
    show({ relays });
    const warnings = relays
      .filter(({ problem, isShared }) => problem !== undefined || isShared === true)
      .map(relayLine);
    for (const text of warnings) if (!warned.includes(text)) world.write(`Warning: ${text}\n`);
    warned = warnings;
  })(cluster, ending.signal);
  const stopped = untilInterrupted(world);
  try {
    await Promise.race([progress('waiting for nodes', cluster.ready), stopped]);
    if (!world.interrupted.aborted) {
      show({ nodes: nodeStates(run.place, cluster) });
      world.write(screen(flags, run, state, world));
    }
    await Promise.race([stopped, failed(cluster, ending.signal), cluster.started.gone]);
  } finally {
    ending.abort();
    await progress('ending pods', cluster.stop());
    await extras;
    removeState(state.dataDir);
    await run.release();
  }
}

/** A node that ends by itself takes its pods with it: nothing to go on with. */
async function failed({ nodes }: Cluster, signal: AbortSignal): Promise<void> {
  const first = await Promise.race(nodes.map((node) => node.ended.then(() => node)));
  if (signal.aborted) return;
  throw new FailedError(
    `Cannot go on: ${first.name} ended: ${first.failure() ?? 'without a reason'}`,
  );
}

function firstState(flags: UpFlags, run: ClusterRun, cluster: Cluster, world: World): UpState {
  const { url, kubeconfig } = cluster.started;
  return {
    pid: visiblePid(world.env),
    innerPid: process.pid,
    version: packageVersion,
    startedAt: world.startedAt,
    network: flags.network,
    networkText: run.networkText,
    url,
    kubeconfig,
    dataDir: resolve(world.cwd(), flags.dataDir),
    nodes: nodeStates(run.place, cluster),
    ...(run.outsidePath === undefined
      ? {}
      : { outside: { namespacePath: run.outsidePath, server: cluster.lanUrl } }),
    dns: cluster.dnsAddresses,
    domain: clusterDomain,
    relays: [],
  };
}

function nodeStates({ nodes: places }: ClusterPlace, { nodes }: Cluster): UpState['nodes'] {
  return nodes.map(({ name, addresses, dataDirectory, mode }, index) => {
    const { namespacePath } = places[index] ?? {};
    return {
      ...{ name, addresses, dataDirectory, proxy: mode() },
      ...(namespacePath === undefined ? {} : { namespacePath }),
    };
  });
}

function screen(
  flags: UpFlags,
  { place, fromHere }: ClusterRun,
  state: UpState,
  world: World,
): string {
  const nodes = state.nodes.map(
    ({ name, addresses, proxy }) => `${name} at ${addresses.join(', ')}; proxy ${proxy}`,
  );
  const relays = state.relays.map(relayLine);
  const program = programName(world);
  const here = dataDirArgument(flags);
  return renderScreen({
    version: state.version,
    tookMs: world.now() - world.startedAt,
    lines: [
      { name: 'API server', text: state.url },
      { name: 'Data', text: flags.dataDir },
      { name: 'Network', text: state.networkText },
      { name: 'Nodes', text: nodes.join('\n') },
      { name: 'Pods', text: place.podRanges.map(formatCidr).join(', ') },
      { name: 'Services', text: describeRanges(flags) },
      { name: 'Balancers', text: describePools(place.balancerPools) },
      {
        name: 'DNS',
        text: `${state.dns.join(', ')} for pods; other names go to this machine's servers`,
      },
      {
        name: 'From here',
        text: [fromHere, ...relays].join('\n'),
      },
    ],
    kubeconfig: shownPath(state.kubeconfig, world),
    tries: [
      'kubectl get nodes,services --all-namespaces',
      `${program} demo      # three pods behind a Service, and a client`,
      `${program} shell${here}     # a shell on a node, where names and cluster IPs work`,
      `${program} status${here}`,
    ],
  });
}

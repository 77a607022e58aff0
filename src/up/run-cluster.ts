// Runs a cluster with a network in the foreground: start, summary, state file, shutdown.
import { resolve } from 'node:path';
import { FailedError, type World } from '../flags/command.ts';
import { packageVersion } from '../flags/package-version.ts';
import { describeRanges } from '../flags/server-flags.ts';
import { removeState, type UpState, writeState } from '../flags/state-file.ts';
import { formatCidr } from '../ip/cidr.ts';
import type { RelayState } from '../relay/run.ts';
import { describePools } from './balancer-pools.ts';
import { dataDirArgument } from './data-dir-flag.ts';
import { renderScreen } from './screen.ts';
import { type Cluster, type ClusterLayout, clusterDomain, startCluster } from './start-cluster.ts';
import { relayLine } from './status-text.ts';
import { createProgress, programName, shownPath, untilInterrupted } from './terminal.ts';
import type { UpFlags } from './up-flags.ts';
import { visiblePid } from './visible-pid.ts';

/** What a network runs beside the cluster, until the signal aborts. */
export type NetworkExtras = (cluster: Cluster, signal: AbortSignal) => Promise<void>;

export type ClusterRun = {
  readonly layout: ClusterLayout;
  readonly networkText: string;
  /** Path of the LAN's network namespace; absent: there is no LAN. */
  readonly outsidePath?: string;
  /** How Services are reached from this machine. */
  readonly fromHere: string;
  /** `report` is called with all relays whenever they change. */
  readonly extras: (report: (relays: readonly RelayState[]) => void) => NetworkExtras;
  /** Called after everything else has stopped. */
  readonly release: () => Promise<void>;
};

export async function runCluster(flags: UpFlags, run: ClusterRun, world: World): Promise<void> {
  const progress = createProgress(world);
  const cluster = await progress('starting', startCluster(flags, run.layout, world)).catch(
    async (error: unknown) => {
      // The thread of the LAN would keep the process alive.
      await run.release();
      throw error;
    },
  );
  const shutdown = new AbortController();
  let state = firstState(flags, run, cluster, world);
  const updateState = (change: Partial<UpState>): void => {
    state = { ...state, ...change };
    writeState(state);
  };
  cluster.onPulls((pulls) => updateState({ pulls }));
  let warned: readonly string[] = [];
  const extras = run.extras((relays) => {
    updateState({ relays });
    const warnings = relays
      .filter(({ problem, isShared }) => problem !== undefined || isShared === true)
      .map(relayLine);
    for (const text of warnings) if (!warned.includes(text)) world.write(`Warning: ${text}\n`);
    warned = warnings;
  })(cluster, shutdown.signal);
  const stopped = untilInterrupted(world);
  try {
    await Promise.race([progress('waiting for nodes', cluster.ready), stopped]);
    if (!world.interrupted.aborted) {
      updateState({ nodes: nodeStates(run.layout, cluster) });
      world.write(screen(flags, run, state, world));
    }
    await Promise.race([stopped, untilNodeFails(cluster, shutdown.signal), cluster.started.gone]);
  } finally {
    shutdown.abort();
    await progress('stopping pods', cluster.stop());
    await extras;
    removeState(state.dataDir);
    await run.release();
  }
}

/** A node thread that fails takes its pods with it, so the whole cluster stops. */
async function untilNodeFails({ nodes }: Cluster, signal: AbortSignal): Promise<void> {
  const first = await Promise.race(nodes.map((node) => node.ended.then(() => node)));
  if (signal.aborted) return;
  throw new FailedError(
    `Stopping: ${first.name} failed: ${first.failure() ?? 'its thread exited'}`,
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
    nodes: nodeStates(run.layout, cluster),
    ...(run.outsidePath === undefined
      ? {}
      : { outside: { namespacePath: run.outsidePath, server: cluster.lanUrl } }),
    dns: cluster.dnsAddresses,
    domain: clusterDomain,
    relays: [],
  };
}

function nodeStates({ nodes: layouts }: ClusterLayout, { nodes }: Cluster): UpState['nodes'] {
  return nodes.map(({ name, addresses, dataDirectory, mode }, index) => {
    const { namespacePath } = layouts[index] ?? {};
    return {
      ...{ name, addresses, dataDirectory, proxy: mode() },
      ...(namespacePath === undefined ? {} : { namespacePath }),
    };
  });
}

function screen(
  flags: UpFlags,
  { layout, fromHere }: ClusterRun,
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
      { name: 'Pods', text: layout.podRanges.map(formatCidr).join(', ') },
      { name: 'Services', text: describeRanges(flags) },
      { name: 'Balancers', text: describePools(layout.balancerPools) },
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

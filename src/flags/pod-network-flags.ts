// The flags of the pod network of a node.
import { type Command, Option } from 'commander';
import type { Transport } from '../client/transport.ts';
import type { PodNetwork } from '../node/network/pod-network.ts';
import { createBridgeNetwork, NetworkNotAllowedError } from '../node/network/run-network.ts';
import type { Log } from '../observe/log.ts';
import { UsageError, type World } from './command.ts';
import { openConnection } from './open-connection.ts';
import { packageVersion } from './package-version.ts';

export type PodNetworkFlags = {
  readonly podNetwork: 'bridge' | 'host';
  readonly networkKubeconfig?: string;
};

export function addPodNetworkFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--pod-network <kind>',
        "Network of the pods. bridge: each pod has its own network namespace and addresses of the node's podCIDRs, requires root and nftables; host: pods use the network of the node",
      )
        .choices(['bridge', 'host'])
        .default('host'),
    )
    .option(
      '--network-kubeconfig <file>',
      "Kubeconfig file that may read all Nodes, for --pod-network bridge where the node's own credentials may not (default: --kubeconfig)",
    );
}

export type OpenedNetwork = {
  /** Absent: pods use the network of the host. */
  readonly network?: PodNetwork;
  readonly close: () => Promise<void>;
};

type Node = {
  readonly name: string;
  readonly ips: readonly string[];
  readonly log: Log;
  /** The agent's transport, which the agent closes. */
  readonly transport: Transport;
};

export async function openPodNetwork(
  flags: PodNetworkFlags,
  world: World,
  { name, ips, log, transport: own }: Node,
): Promise<OpenedNetwork> {
  if (flags.podNetwork === 'host') return { close: () => Promise.resolve() };
  const { networkKubeconfig: kubeconfig } = flags;
  const transport =
    kubeconfig === undefined
      ? { ...own, close: () => Promise.resolve() }
      : (await openConnection({ kubeconfig }, { world, log })).transport;
  const caller = { transport, userAgent: `fairlead-pod-network/${packageVersion}` };
  try {
    const network = await createBridgeNetwork(
      { caller, log, nodeName: name, nodeIPs: ips },
      world.interrupted,
    );
    return { network, close: transport.close };
  } catch (error) {
    await transport.close();
    if (!(error instanceof NetworkNotAllowedError)) throw error;
    throw new UsageError(`${error.message} Without it: --pod-network host.`);
  }
}

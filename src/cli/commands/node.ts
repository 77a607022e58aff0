// Runs the node agent alone, against any API server: this machine becomes a node.
import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { type KeyPair, makeCertificate } from '../../apiserver/certificates/x509.ts';
import { isReachable } from '../../apiserver/proxy/find-target.ts';
import type { Connection } from '../../client/read-kubeconfig.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import { addImageFlags, type ImageFlags, imageOptions } from '../../flags/image-flags.ts';
import { readImageMap } from '../../flags/image-map-file.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { packageVersion } from '../../flags/package-version.ts';
import { ipAddress, port } from '../../flags/parse-flags.ts';
import { addPidFlag, maxPidsOf, type PidFlag } from '../../flags/pid-flag.ts';
import {
  addPodNetworkFlags,
  openPodNetwork,
  type PodNetworkFlags,
} from '../../flags/pod-network-flags.ts';
import {
  addRegistryFlag,
  type RegistryFlag,
  readDockerConfig,
  readRegistrySettings,
} from '../../flags/registry-flags.ts';
import { addShutdownFlag, type ShutdownFlag } from '../../flags/shutdown-flag.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { openImageStore } from '../../images/open-image-store.ts';
import { parseAddress } from '../../ip/address.ts';
import { readPair } from '../../join/identity-files.ts';
import { addJoinFlags, type JoinFlags } from '../../join/join-flags.ts';
import {
  type ConnectedNode,
  type NodeConnection,
  openNodeConnection,
  renewalOptions,
  whileRenewing,
} from '../../join/open-node-connection.ts';
import { coversNames, renewServingCertificate } from '../../join/renew-certificates.ts';
import { releaseVersion } from '../../meta/release-version.ts';
import { type NodeOptions, startNode } from '../../node/run.ts';
import { createOciRuntime } from '../../node/runtimes/oci/run-runtime.ts';
import type { NodeServerTls } from '../../node/serve-node.ts';
import { readNodeIPs } from '../../node/status/read-machine.ts';
import { createLog } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';

type NodeFlags = ClientFlags &
  LogFlag &
  JoinFlags &
  PodNetworkFlags &
  PidFlag &
  ImageFlags &
  RegistryFlag &
  ShutdownFlag & {
    readonly nodeName?: string;
    readonly nodeIp?: readonly string[];
    readonly nodeLabels: Readonly<Record<string, string>>;
    readonly dataDir: string;
    readonly imageMap?: string;
    readonly clusterDns: readonly string[];
    readonly clusterDomain: string;
    readonly address: string;
    readonly port: number;
    readonly maxPods: number;
  };

export const node: CommandDefinition = {
  configure(command, world) {
    addPodNetworkFlags(addJoinFlags(addConnectionFlags(command)))
      .option('--node-name <name>', 'Name of the node (default: the host name)')
      .option(
        '--node-ip <addresses>',
        "IP addresses of the node, one per IP family (default: this machine's first addresses)",
        addresses,
      )
      .option('--node-labels <labels>', 'Labels of the node, such as a=b,c=d', labels, {})
      .option(
        '--data-dir <directory>',
        'Directory for pods, logs, images and credentials',
        '.fairlead/node',
      )
      .option('--image-map <file>', 'File that maps image names to commands and root directories')
      .option(
        '--cluster-dns <addresses>',
        'DNS servers of pods, separated by commas',
        addresses,
        [],
      )
      .option('--cluster-domain <name>', 'Domain of the cluster', 'cluster.local')
      .option(
        '--address <ip>',
        'IP address that serves logs, exec, pods and metrics',
        ipAddress,
        '0.0.0.0',
      )
      .option('--port <port>', 'Port of --address. 0 selects a free port', port, 10250)
      .option('--max-pods <count>', 'Maximum number of pods on the node', count, 110);
    addLogFlag(addImageFlags(addRegistryFlag(addShutdownFlag(addPidFlag(command))))).action(
      async (flags: NodeFlags) => run(flags, world),
    );
  },
};

async function run(flags: NodeFlags, world: World): Promise<void> {
  const nodeImages = imageOptions(flags);
  const registries = readRegistrySettings(flags, world.cwd());
  const nodeIPs = flags.nodeIp ?? readNodeIPs();
  checkReachable(nodeIPs);
  const name = (flags.nodeName ?? hostname()).toLowerCase();
  const dataDirectory = resolve(world.cwd(), flags.dataDir);
  const identity = { nodeName: name, directory: dataDirectory };
  // Pods must not read the credentials of the node or of the user.
  const privatePaths = [flags.kubeconfig, flags.networkKubeconfig, world.env.KUBECONFIG].flatMap(
    (path) => (path === undefined || path === '' ? [] : [resolve(world.cwd(), path)]),
  );
  const node = await openNodeConnection(flags, identity, world);
  const { connection, transport } = node;
  const log = createLog(flags.logLevel);
  const connected = { node, flags, identity, world, log };
  const version = releaseVersion(packageVersion);
  const opened = await openPodNetwork(flags, world, { name, ips: nodeIPs, log, transport });
  const metrics = createMetrics();
  const store = await openImageStore({
    ...{ directory: join(dataDirectory, 'images'), env: world.env, log },
    registries,
  });
  const options: NodeOptions = {
    metrics,
    caller: { transport, userAgent: `kubelet/fairlead-${packageVersion}` },
    log,
    name,
    nodeIPs,
    labels: flags.nodeLabels,
    dataDirectory,
    privatePaths,
    runtime: await createOciRuntime({
      images: await readImageMap(flags.imageMap, world.cwd()),
      directory: dataDirectory,
      privatePaths: privatePaths,
      now: world.now,
      log,
      version: packageVersion,
      ...maxPidsOf(flags),
    }),
    images: { store, keyring: () => readDockerConfig(world.env, log), ...nodeImages },
    cluster: { nameservers: flags.clusterDns, domain: flags.clusterDomain },
    version,
    serve: {
      host: flags.address,
      port: flags.port,
      tls: await servingTls(connected, [name, ...nodeIPs]),
    },
    maxPods: flags.maxPods,
    shutdownGraceMs: flags.shutdownGracePeriod,
    ...(opened.network === undefined ? {} : { network: opened.network }),
  };
  const stopWatching = watchStallsOf(flags, metrics);
  try {
    await whileRenewing(connected, async (signal) => {
      const running = await startNode(options, world.interrupted);
      world.write(
        `Node ${name} for ${connection.server}, serving on ${flags.address}:${running.server?.port}\n`,
      );
      const use = running.server?.useCertificate;
      await Promise.all([running.ended, keepServing(connected, [name, ...nodeIPs], use, signal)]);
    });
  } catch (error) {
    throw explained(error, flags);
  } finally {
    stopWatching();
    await store.close();
    await opened.close();
    await transport.close();
  }
}

const dayMs = 24 * 3600 * 1000;

/** The stored serving certificate that the cluster signed, otherwise a self-signed one, as a kubelet has without configuration. */
async function servingTls({ node, identity, world }: ConnectedNode, names: readonly string[]) {
  const { nodeName, directory } = identity;
  const kept = asksForServing(node, nodeName) ? await readPair(directory, 'serving') : undefined;
  // A certificate for the node name alone is used until it is replaced.
  const isFit = kept !== undefined && coversNames(kept.certificate, names.slice(0, 1));
  const now = world.now();
  const made = {
    subject: { commonName: `system:node:${nodeName}` },
    use: 'server',
    names,
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + 365 * dayMs),
  } as const;
  return tlsOf(isFit ? kept : makeCertificate(made), node.connection);
}

function tlsOf(
  { certificate: cert, privateKey: key }: KeyPair,
  { certificateAuthority: clientAuthority }: Connection,
): NodeServerTls {
  return { key, cert, ...(clientAuthority === undefined ? {} : { clientAuthority }) };
}

/** Only the node itself may request its serving certificate. */
function asksForServing({ isJoined, connection }: NodeConnection, nodeName: string): boolean {
  const { clientCertificate } = connection;
  if (isJoined || clientCertificate === undefined) return isJoined;
  return new X509Certificate(clientCertificate).subject
    .split('\n')
    .includes(`CN=system:node:${nodeName}`);
}

async function keepServing(
  options: ConnectedNode,
  names: readonly string[],
  use: ((tls: NodeServerTls) => void) | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { node, identity } = options;
  if (!asksForServing(node, identity.nodeName) || use === undefined) return;
  await renewServingCertificate(
    renewalOptions(options),
    names,
    async (pair) => use(tlsOf(pair, node.connection)),
    signal,
  );
}

function explained(error: unknown, flags: NodeFlags): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isTaken = code === 'EADDRINUSE' || code === 'EADDRNOTAVAIL' || code === 'EACCES';
  if (!isTaken) return error;
  return new UsageError(
    `Cannot serve on ${flags.address}:${flags.port}: ${message}. Choose others with --address and --port.`,
  );
}

/** Rejects addresses as the kubelet does: the cluster must be able to connect to them. */
function checkReachable(nodeIPs: readonly string[]): void {
  const wrong = nodeIPs.find((ip) => !isReachable(ip));
  if (wrong === undefined) return;
  throw new UsageError(
    `Cannot use ${wrong} as node IP: other machines cannot reach it. Set an address of this machine with --node-ip.`,
  );
}

function addresses(text: string): readonly string[] {
  const all = text.split(',').map((part) => part.trim());
  const wrong = all.find((one) => parseAddress(one) === undefined);
  if (wrong === undefined) return all;
  throw new InvalidArgumentError(
    `"${wrong}" is not an IP address; it must be one like 10.96.0.10.`,
  );
}

function labels(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', value, ...rest] = pair.trim().split('=');
      if (name !== '' && value !== undefined && rest.length === 0) return [name, value];
      throw new InvalidArgumentError(`"${pair}" is not a label; it must be one like zone=a.`);
    }),
  );
}

function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`"${text}" is not a number of pods; it must be one like 110.`);
}

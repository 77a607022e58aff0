// The node agent alone, against any API server: this machine becomes a node.
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { makeCertificate } from '../../apiserver/certificates/x509.ts';
import { createHttpTransport } from '../../client/http-transport.ts';
import { parseAddress } from '../../ip/address.ts';
import { probeNodeIPs } from '../../node/probe-machine.ts';
import { type NodeOptions, startNode } from '../../node/run.ts';
import {
  type ImageMap,
  ImageMapError,
  parseImageMap,
} from '../../node/runtimes/process/image-map.ts';
import { createProcessRuntime } from '../../node/runtimes/process/run-runtime.ts';
import { createLog, type LogLevel } from '../../observe/log.ts';
import { addConnectionFlags, type ClientFlags, connect } from '../client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../command.ts';
import { packageVersion } from '../package-version.ts';
import { ipAddress, logLevel, port } from '../parse-flags.ts';

type NodeFlags = ClientFlags & {
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
  readonly logLevel: LogLevel;
};

export const node: CommandDefinition = {
  name: 'node',
  summary: 'run pods on this machine, as processes',
  configure(command, world) {
    addConnectionFlags(command)
      .option('--node-name <name>', "name of the node (default: this machine's host name)")
      .option(
        '--node-ip <addresses>',
        "addresses of the node, one of each family (default: this machine's first)",
        addresses,
      )
      .option('--node-labels <labels>', 'labels of the node: a=b,c=d', labels, {})
      .option('--data-dir <directory>', 'for pods, logs and images', '.fairlead/node')
      .option('--image-map <file>', 'what the names of images mean: commands and root directories')
      .option('--cluster-dns <addresses>', 'name servers of pods', addresses, [])
      .option('--cluster-domain <name>', 'domain of the cluster', 'cluster.local')
      .option('--address <ip>', 'where to serve logs, pods and metrics', ipAddress, '0.0.0.0')
      .option('--port <port>', 'port for that, 0 for any free one', port, 10250)
      .option('--max-pods <count>', 'how many pods the node takes', count, 110)
      .option(
        '--log-level <level>',
        'debug, info, warn, error or silent',
        logLevel,
        'info' satisfies LogLevel,
      )
      .action(async (flags: NodeFlags) => run(flags, world));
  },
};

async function run(flags: NodeFlags, world: World): Promise<void> {
  const connection = await connect(flags, world);
  const log = createLog(flags.logLevel);
  const transport = createHttpTransport(connection);
  const name = (flags.nodeName ?? hostname()).toLowerCase();
  const nodeIPs = flags.nodeIp ?? probeNodeIPs();
  const dataDirectory = resolve(world.cwd(), flags.dataDir);
  const version = `v${packageVersion}`;
  const options: NodeOptions = {
    caller: { transport, userAgent: `kubelet/fairlead-${packageVersion}` },
    log,
    name,
    nodeIPs,
    labels: flags.nodeLabels,
    dataDirectory,
    runtime: await createProcessRuntime({
      images: await readImageMap(flags, world),
      directory: dataDirectory,
      now: world.now,
      log,
      version: packageVersion,
    }),
    cluster: { nameservers: flags.clusterDns, domain: flags.clusterDomain },
    version,
    serve: {
      host: flags.address,
      port: flags.port,
      tls: tls(name, nodeIPs, world.now(), connection.certificateAuthority),
    },
    mostPods: flags.maxPods,
  };
  try {
    const running = await startNode(options, world.interrupted);
    world.write(
      `Node ${name} for ${connection.server}, serving on ${flags.address}:${running.server?.port}\n`,
    );
    await running.ended;
  } catch (error) {
    throw explained(error, flags);
  } finally {
    await transport.close();
  }
}

const dayMs = 24 * 3600 * 1000;

/** Signed by itself, as a kubelet's is that was given none. */
function tls(
  name: string,
  nodeIPs: readonly string[],
  now: number,
  clientAuthority: string | undefined,
) {
  const { certificate, privateKey } = makeCertificate({
    subject: { commonName: `system:node:${name}` },
    use: 'server',
    names: [name, ...nodeIPs],
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + 365 * dayMs),
  });
  return {
    key: privateKey,
    cert: certificate,
    ...(clientAuthority === undefined ? {} : { clientAuthority }),
  };
}

async function readImageMap({ imageMap }: NodeFlags, world: World): Promise<ImageMap> {
  if (imageMap === undefined) return {};
  try {
    return parseImageMap(await readFile(resolve(world.cwd(), imageMap), 'utf8'));
  } catch (error) {
    if (error instanceof ImageMapError) throw new UsageError(`${error.message}.`);
    throw new UsageError(`Cannot read the image map "${imageMap}": ${(error as Error).message}.`);
  }
}

function explained(error: unknown, flags: NodeFlags): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isTaken = code === 'EADDRINUSE' || code === 'EADDRNOTAVAIL' || code === 'EACCES';
  if (!isTaken) return error;
  return new UsageError(
    `Cannot serve on ${flags.address}:${flags.port}: ${message}. Choose others with --address and --port.`,
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

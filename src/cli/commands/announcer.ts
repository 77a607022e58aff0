// Runs the announcer alone, against any API server: answers ARP and NDP requests for load balancer addresses.
import { hostname } from 'node:os';
import { Option } from 'commander';
import { probeProxy } from '../../cloud/announce/probe-proxy.ts';
import { defaultLeaseMs, defaultProxyUrl, startAnnouncer } from '../../cloud/announce/run.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import { type CommandDefinition, FailedError, type World } from '../../flags/command.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { addMetricsFlag, type MetricsFlags, serveMetrics } from '../../flags/metrics-flags.ts';
import { type OpenConnection, withConnection } from '../../flags/open-connection.ts';
import { packageVersion } from '../../flags/package-version.ts';
import { duration, formatDuration } from '../../flags/parse-values.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { createLog, type Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';

type Flags = ClientFlags &
  LogFlag &
  MetricsFlags & {
    readonly nodeName?: string;
    readonly interface?: string;
    readonly leaseDuration: number;
    readonly proxyHealthzUrl: string;
    readonly loadBalancerClass?: string;
    readonly allowForeignAddresses?: true;
  };

/** The duration in a Lease is in whole seconds. */
const minLeaseMs = 1000;

export const announcer: CommandDefinition = {
  configure(command, world) {
    addConnectionFlags(command)
      .option('--node-name <name>', 'Name of this node (default: the host name)')
      .option(
        '--interface <name>',
        "Network interface to answer on (default: the one with the node's InternalIP)",
      )
      .addOption(
        new Option(
          '--lease-duration <time>',
          'Time after the last renewal after which another node takes over',
        )
          .argParser(duration({ minMs: minLeaseMs }))
          .default(defaultLeaseMs, formatDuration(defaultLeaseMs)),
      )
      .option(
        '--proxy-healthz-url <url>',
        "URL that reports whether this node's proxy is healthy",
        defaultProxyUrl,
      )
      .option(
        '--load-balancer-class <name>',
        'Handles Services with this loadBalancerClass instead of those without one',
      )
      .option(
        '--allow-foreign-addresses',
        'Also answers for load balancer IPs that are addresses of nodes, pods or the API server (default: never)',
      );
    addMetricsFlag(command, '127.0.0.1:10259');
    addLogFlag(command).action(async (flags: Flags) => run(flags, world));
  },
};

async function run(flags: Flags, world: World): Promise<void> {
  const log = createLog(flags.logLevel);
  await withConnection(flags, { world, log }, (opened) => serve(flags, world, log, opened));
}

async function serve(
  flags: Flags,
  world: World,
  log: Log,
  { connection, transport }: OpenConnection,
): Promise<void> {
  const metrics = createMetrics();
  const stopWatching = watchStallsOf(flags, metrics);
  const served = await serveMetrics(flags, metrics);
  const { loadBalancerClass, interface: link, proxyHealthzUrl } = flags;
  const nodeName = (flags.nodeName ?? hostname()).trim().toLowerCase();
  const where = served.url === undefined ? '' : `, metrics at ${served.url}`;
  world.write(`Announcer of node "${nodeName}" for ${connection.server}${where}\n`);
  try {
    await startAnnouncer(
      {
        caller: { transport, userAgent: `fairlead-announcer/${packageVersion}` },
        nodeName,
        log,
        metrics,
        leaseMs: flags.leaseDuration,
        allowsForeignAddresses: flags.allowForeignAddresses ?? false,
        isProxyReady: () => probeProxy(proxyHealthzUrl),
        ...(link === undefined ? {} : { interface: link }),
        ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
      },
      world.interrupted,
    );
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new FailedError(`Cannot answer for addresses: ${text}.`, { cause: error });
  } finally {
    stopWatching();
    await served.stop();
  }
}

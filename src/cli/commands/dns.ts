// Runs cluster DNS alone, against any API server.
import { InvalidArgumentError } from 'commander';
import { type PodMode, podModes } from '../../dns/cluster/find-rows.ts';
import {
  type ServerAddress,
  type ServerGroup,
  serverText,
} from '../../dns/forward/upstream-servers.ts';
import { startDns } from '../../dns/run.ts';
import { type WireName, wireName } from '../../dns/wire/names.ts';
import { addConnectionFlags, type ClientFlags } from '../../flags/client-flags.ts';
import { type CommandDefinition, FailedError, type World } from '../../flags/command.ts';
import { addLogFlag, type LogFlag } from '../../flags/log-flag.ts';
import { type OpenConnection, withConnection } from '../../flags/open-connection.ts';
import { seconds } from '../../flags/parse-flags.ts';
import { watchStallsOf } from '../../flags/watch-stalls.ts';
import { preferSmallHeap } from '../../host/free-memory.ts';
import { parseAddress } from '../../ip/address.ts';
import { parseCidr } from '../../ip/cidr.ts';
import { beginWork, endWork } from '../../observe/current-work.ts';
import { createLog, type Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';

type DnsFlags = ClientFlags &
  LogFlag & {
    readonly listen: readonly ServerAddress[];
    readonly clusterDomain: WireName;
    readonly pods: PodMode;
    readonly ttl: number;
    readonly forward: Forward;
    readonly stubDomain?: readonly ServerGroup[];
    readonly cache: number;
    readonly allow?: readonly string[];
    readonly autopath?: true;
    readonly labels?: string;
    readonly namespaces?: readonly string[];
    readonly namespaceLabels?: string;
    readonly endpoints: boolean;
    readonly endpointPodNames?: true;
    readonly ignoreEmptyService?: true;
    readonly batches: boolean;
    readonly metricsBindAddress: readonly ServerAddress[];
    readonly lameduck?: number;
    readonly logQueries?: true;
  };

type Forward = { readonly file: string } | { readonly servers: readonly ServerAddress[] };

export const dns: CommandDefinition = {
  configure(command, world) {
    addConnectionFlags(command)
      .option(
        '--listen <addresses>',
        'Addresses to listen on, over UDP and TCP, separated by commas (default: all addresses, port 53)',
        addresses(53),
        everywhere,
      )
      .option(
        '--cluster-domain <name>',
        'Domain of the cluster (default: cluster.local)',
        domain,
        defaultDomain,
      )
      .option(
        '--pods <mode>',
        `Whether names of pods resolve: ${podModes.join(', ')}`,
        podMode,
        'insecure',
      )
      .option('--ttl <seconds>', 'TTL of the names of the cluster', ttl, 30)
      .option(
        '--forward <servers>',
        'Upstream servers for all other names: addresses, a file in the format of resolv.conf, or "none" (default: /etc/resolv.conf)',
        forward,
        { file: '/etc/resolv.conf' },
      )
      .option(
        '--stub-domain <zone=servers>',
        'Upstream servers of one zone. May be repeated',
        stubDomain,
      )
      .option(
        '--cache <seconds>',
        'Maximum TTL of cached upstream answers. 0 disables the cache',
        ttl,
        30,
      )
      .option(
        '--allow <cidrs>',
        'CIDRs of clients that may resolve names outside of the cluster (default: all clients)',
        networks,
      )
      .option('--autopath', 'Resolves the search list of a pod in one query')
      .option(
        '--labels <selector>',
        'Label selector of the Services, EndpointSlices and Pods that have names',
      )
      .option('--namespaces <names>', 'Namespaces that have names, separated by commas', names)
      .option('--namespace-labels <selector>', 'Label selector of the namespaces that have names')
      .option('--no-endpoints', 'Disables names of endpoints and headless Services')
      .option('--endpoint-pod-names', 'Names endpoints after their pods instead of their addresses')
      .option('--ignore-empty-service', 'Disables names of Services without ready endpoints')
      .option('--no-batches', 'Receives packets one by one, without recvmmsg')
      .option(
        '--metrics-bind-address <addresses>',
        'Addresses that serve /metrics, /health, /ready and /querylog, separated by commas, or "none" (default: 127.0.0.1:9153)',
        addresses(9153),
        metricsAddress,
      )
      .option(
        '--lameduck <time>',
        'Time to keep answering after SIGTERM, while reporting not ready',
        seconds,
      )
      .option('--log-queries', 'Logs a line per query');
    addLogFlag(command).action(async (flags: DnsFlags) => run(flags, world));
  },
};

const everywhere: readonly ServerAddress[] = [
  { host: '0.0.0.0', port: 53 },
  { host: '::', port: 53 },
];
const metricsAddress: readonly ServerAddress[] = [{ host: '127.0.0.1', port: 9153 }];
const defaultDomain = '\x07cluster\x05local\0';

async function run(flags: DnsFlags, world: World): Promise<void> {
  preferSmallHeap();
  const log = createLog(flags.logLevel);
  await withConnection(flags, { world, log }, (opened) => serve(flags, world, log, opened));
}

async function serve(
  flags: DnsFlags,
  world: World,
  log: Log,
  { connection, transport }: OpenConnection,
): Promise<void> {
  const { clusterDomain, stubDomain: stubDomains, allow, lameduck } = flags;
  const metrics = createMetrics();
  const stopWatching = watchStallsOf(flags, metrics);
  // The stall watchdog reports the whole part: DNS has no units of work worth naming.
  const begun = beginWork(connection, ({ server }) => ({ kind: 'dns', server }));
  try {
    const running = await startDns({
      transport,
      log,
      metrics,
      signal: world.interrupted,
      listen: flags.listen,
      domain: clusterDomain,
      ttl: flags.ttl,
      pods: flags.pods,
      forward: flags.forward,
      cacheSeconds: flags.cache,
      watchEndpoints: flags.endpoints,
      batches: flags.batches,
      status: flags.metricsBindAddress,
      isStatusOptional: flags.metricsBindAddress === metricsAddress,
      ...(stubDomains === undefined ? {} : { stubDomains }),
      ...(allow === undefined ? {} : { allow }),
      ...exposure(flags),
      ...(lameduck === undefined ? {} : { lameDuckMs: lameduck * 1000 }),
      autopath: flags.autopath ?? false,
      endpointPodNames: flags.endpointPodNames ?? false,
      ignoreEmptyService: flags.ignoreEmptyService ?? false,
      logQueries: flags.logQueries ?? false,
    });
    const where = running.addresses.map(serverText).join(', ');
    world.write(`DNS for ${connection.server} on ${where}\n`);
    await running.ended;
  } catch (error) {
    throw error instanceof Error && error.message.startsWith('Cannot listen')
      ? new FailedError(error.message, { cause: error })
      : error;
  } finally {
    endWork(begun);
    stopWatching();
  }
}

/** The selection of objects that have names. */
function exposure({ labels, namespaces, namespaceLabels }: DnsFlags) {
  return {
    ...(labels === undefined ? {} : { labelSelector: labels }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(namespaceLabels === undefined ? {} : { namespaceSelector: namespaceLabels }),
  };
}

function names(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}

/** `10.0.0.1`, `10.0.0.1:53`, `::1`, `[::1]:53`, `:53` for all addresses; separated by commas; `none`. */
function addresses(port: number): (text: string) => readonly ServerAddress[] {
  return (text) => (text === 'none' ? [] : text.split(',').flatMap((one) => address(one, port)));
}

function address(text: string, defaultPort: number): readonly ServerAddress[] {
  const trimmed = text.trim();
  if (parseAddress(trimmed) !== undefined) return [{ host: trimmed, port: defaultPort }];
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(trimmed) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === '' && digits !== undefined && port <= 65535) {
    return everywhere.map((one) => ({ ...one, port }));
  }
  if (parseAddress(host) === undefined || port > 65535) {
    throw new InvalidArgumentError(
      `"${text}" is not an address; it must be one like 10.96.0.10, 127.0.0.1:1053 or [::1]:1053.`,
    );
  }
  return [{ host, port }];
}

function forward(text: string): Forward {
  if (text === 'none') return { servers: [] };
  return text.includes('/') ? { file: text } : { servers: addresses(53)(text) };
}

function stubDomain(text: string, before: readonly ServerGroup[] = []): readonly ServerGroup[] {
  const [name = '', list = ''] = text.split('=', 2);
  if (list === '') {
    throw new InvalidArgumentError(
      `"${text}" is not a zone with servers; it must be one like example.com=10.0.0.1,10.0.0.2.`,
    );
  }
  return [...before, { zone: domain(name), servers: addresses(53)(list) }];
}

function domain(text: string): WireName {
  const name = wireName(text);
  if (name !== undefined && name !== '\0') return name;
  throw new InvalidArgumentError(`"${text}" is not a domain; it must be one like cluster.local.`);
}

function podMode(text: string): PodMode {
  const mode = podModes.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new InvalidArgumentError(
    `"${text}" is not a mode; it must be one of ${podModes.join(', ')}.`,
  );
}

/** CoreDNS' maximum. */
const maxTtl = 3600;

function ttl(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= maxTtl) return value;
  throw new InvalidArgumentError(`"${text}" is not a number of seconds from 0 to ${maxTtl}.`);
}

function networks(text: string): readonly string[] {
  return text.split(',').map((part) => {
    const trimmed = part.trim();
    if (parseCidr(trimmed) !== undefined) return trimmed;
    throw new InvalidArgumentError(
      `"${part}" is not a network; it must be one like 10.244.0.0/16 or fd44::/16.`,
    );
  });
}

// The flags of the API server for `up` and `apiserver`; starts the server.

import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { UnreadableStoreError } from '../apiserver/cache/report-unreadable.ts';
import {
  type Credentials,
  ensureCertificates,
} from '../apiserver/certificates/ensure-certificates.ts';
import { writeKubeconfig } from '../apiserver/certificates/kubeconfig-file.ts';
import { startRenewal } from '../apiserver/certificates/renew-certificates.ts';
import type { HistoryOptions } from '../apiserver/history/start-history.ts';
import type { ApiServerOptions } from '../apiserver/options.ts';
import { type ApiServer, startApiServer } from '../apiserver/start.ts';
import { TokenFileError } from '../apiserver/tokens/follow-token-file.ts';
import { SigningKeyError } from '../apiserver/tokens/signing-key.ts';
import { systemClock } from '../host/clock.ts';
import { relaxHeapGrowth } from '../host/heap-room.ts';
import { formatAddress, isLoopback, isUnspecified, parseAddress } from '../ip/address.ts';
import { type Cidr, formatCidr, nthAddress } from '../ip/cidr.ts';
import { containsPort, formatPortRange, type PortRange } from '../ip/port-range.ts';
import { createLog, type Log, type LogLevel } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import { openEmbeddedStore } from '../storage/backends/embedded/store.ts';
import type { Store } from '../storage/store.ts';
import { type AccessFlags, accessOptions, addAccessFlags } from './access-flags.ts';
import { type AuditFlags, addAuditFlags, type OpenAudit, openAudit } from './audit-flags.ts';
import { FailedError, UsageError, type World } from './command.ts';
import {
  explainLocked,
  makeDataDirectory,
  openDirectoryWarning,
  removeDataDirectory,
} from './data-directory.ts';
import {
  addEncryptionFlags,
  type EncryptionFlags,
  openEncryption,
  withEncryption,
} from './encryption-flags.ts';
import { addEtcdFlags, type EtcdFlags, openEtcd, sharedStore } from './etcd-flags.ts';
import { followStorage } from './follow-storage.ts';
import { addHistoryFlags, type HistoryFlags, historyOf } from './history-flags.ts';
import { addLimitFlags, type LimitFlags, limitsOf } from './limit-flags.ts';
import { addLogFlag, type LogFlag } from './log-flag.ts';
import { packageVersion } from './package-version.ts';
import { ipAddress, port, portRange, serviceRanges } from './parse-flags.ts';
import { watchStallsOf } from './watch-stalls.ts';

export type ServerFlags = AccessFlags &
  EtcdFlags &
  EncryptionFlags &
  LimitFlags &
  HistoryFlags &
  LogFlag &
  AuditFlags & {
    readonly dataDir: string;
    readonly bindAddress: string;
    readonly securePort: number;
    readonly advertiseAddress?: string;
    readonly writeKubeconfig?: string;
    readonly serviceClusterIpRange: readonly Cidr[];
    readonly serviceNodePortRange: PortRange;
    readonly kubernetesServiceNodePort: number;
    readonly endpointReconcilerType: 'lease' | 'none';
  };

export type ServerDefaults = { readonly bindAddress: string; readonly logLevel: LogLevel };

const defaultServiceRanges = '10.96.0.0/16,fd00:96::/108';
const defaultNodePorts = '30000-32767';

export function addServerFlags(command: Command, defaults: ServerDefaults): Command {
  command
    .option('--data-dir <dir>', 'Directory for all durable data', '.fairlead')
    .option('--bind-address <ip>', 'IP address to listen on', ipAddress, defaults.bindAddress)
    .option('--secure-port <port>', 'Port to listen on. 0 selects a free port', port, 6443)
    .option(
      '--advertise-address <ip>',
      "IP address that the server advertises to clients and other servers (default: the bind address, or this machine's address)",
      ipAddress,
    )
    .option(
      '--write-kubeconfig <file>',
      "File to write the administrator's kubeconfig to (default: DATA-DIR/kubeconfig)",
    )
    .addOption(
      new Option(
        '--service-cluster-ip-range <cidrs>',
        'CIDR from which cluster IPs are assigned, or two of different IP families, separated by a comma',
      )
        .argParser(serviceRanges)
        .default(serviceRanges(defaultServiceRanges), defaultServiceRanges),
    )
    .addOption(
      new Option(
        '--service-node-port-range <range>',
        'Range of ports for Services with type NodePort',
      )
        .argParser(portRange)
        .default(portRange(defaultNodePorts), defaultNodePorts),
    )
    .option(
      '--kubernetes-service-node-port <port>',
      'Node port of the `kubernetes` Service. 0 assigns none',
      port,
      0,
    )
    .addOption(
      new Option(
        '--endpoint-reconciler-type <type>',
        'How the endpoints of the `kubernetes` Service are maintained: by leases of the API servers (lease), or not by this server (none)',
      )
        .choices(['lease', 'none'])
        .default('lease'),
    );
  const withFlags = addAuditFlags(
    addLimitFlags(addHistoryFlags(addAccessFlags(addEncryptionFlags(addEtcdFlags(command))))),
  );
  return addLogFlag(withFlags, defaults.logLevel);
}

export type StartedServer = {
  readonly server: ApiServer;
  readonly url: string;
  readonly kubeconfig: string;
  readonly credentials: Credentials;
  readonly log: Log;
  /** The metrics that /metrics serves. */
  readonly metrics: MetricsRegistry;
  /** Rejects when the data directory was removed: the server cannot continue. */
  readonly gone: Promise<never>;
  readonly stop: () => Promise<void>;
};

/** Additions of a caller that runs the server in a network of its own, as `up` does. */
export type ServerNetwork = {
  /** Further names and addresses for the serving certificate. */
  readonly serverNames?: readonly string[];
} & Pick<ApiServerOptions, 'listenAlso' | 'dial' | 'dialNode'>;

export async function startFromFlags(
  flags: ServerFlags,
  world: World,
  location: ServerNetwork = {},
): Promise<StartedServer> {
  checkServiceNodePort(flags);
  const log = createLog(flags.logLevel);
  const metrics = createMetrics();
  const dataDir = resolve(world.cwd(), flags.dataDir);
  const made = await makeDataDirectory(dataDir);
  const warning = await openDirectoryWarning(dataDir);
  if (warning !== undefined) world.writeError(`${warning}\n`);
  // A failed first start leaves no files.
  const removeCreated = (): Promise<void> => removeDataDirectory(made);
  const outside = { cwd: world.cwd(), now: world.now, log, metrics };
  const audit = await orElse(openAudit(flags, outside), removeCreated);
  const encryption = await orElse(openEncryption(flags, outside), removeCreated);
  const plain =
    (await orElse(openEtcd(flags, outside), removeCreated)) ??
    (await openDirectory(dataDir, world));
  const store = withEncryption(plain, encryption, flags);
  try {
    const started = await startOn(store, {
      ...{ flags, dataDir, log, metrics, world, audit, location },
      history: historyOf(flags, dataDir, encryption),
    });
    const restoreHeapGrowth = relaxHeapGrowth();
    const stopWatching = watchStallsOf(flags, metrics);
    const stopReload = encryption?.follow(started.server.rereadStored);
    const storage = await followStorage(store, flags, dataDir, log);
    const stop = async (): Promise<void> => {
      restoreHeapGrowth();
      stopWatching();
      await stopReload?.();
      await storage.stop();
      await started.stop();
    };
    return { ...started, gone: storage.gone, stop };
  } catch (error) {
    // While the store is open no other server can use the directory. With etcd, something may already be signed with the keys in it.
    if (flags.etcdServers === undefined) await removeCreated();
    await store.close();
    await audit?.log.close();
    if (error instanceof TokenFileError || error instanceof SigningKeyError)
      throw new UsageError(error.message);
    if (error instanceof UnreadableStoreError)
      throw new FailedError(`error: Cannot start: ${error.message}`, { cause: error });
    throw portHint(error, flags);
  }
}

async function openDirectory(dataDir: string, { now }: World): Promise<Store> {
  try {
    return await openEmbeddedStore({ directory: join(dataDir, 'store'), now });
  } catch (error) {
    throw explainLocked(error, dataDir);
  }
}

async function orElse<T>(work: Promise<T>, undo: () => Promise<void>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await undo();
    throw error;
  }
}

type Setting = {
  readonly flags: ServerFlags;
  readonly dataDir: string;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly world: World;
  readonly audit: OpenAudit | undefined;
  readonly location: ServerNetwork;
  readonly history: HistoryOptions | undefined;
};

async function startOn(
  store: Store,
  { flags, dataDir, log, metrics, world, audit, location, history }: Setting,
): Promise<Omit<StartedServer, 'gone'>> {
  const { serverNames = [], ...connections } = location;
  const serviceCidrs = flags.serviceClusterIpRange;
  const advertiseAddress = advertisedAddress(flags);
  const certificates = {
    directory: join(dataDir, 'pki'),
    serverNames: [
      advertiseAddress,
      ...serviceCidrs.map((cidr) => formatAddress(nthAddress(cidr, 1n))),
      ...serverNames,
    ],
  };
  const credentials = await ensureCertificates({ ...certificates, now: world.now() });
  const server = await startApiServer({
    store,
    credentials,
    host: flags.bindAddress,
    port: flags.securePort,
    advertiseAddress,
    serviceCidrs,
    nodePorts: flags.serviceNodePortRange,
    ...(flags.kubernetesServiceNodePort === 0
      ? {}
      : { serviceNodePort: flags.kubernetesServiceNodePort }),
    publishesEndpoints: flags.endpointReconcilerType !== 'none',
    packageVersion,
    now: world.now,
    log,
    metrics,
    limits: limitsOf(flags),
    ...(flags.etcdServers === undefined ? {} : { shared: sharedStore(flags) }),
    ...connections,
    ...(audit === undefined ? {} : { audit }),
    ...(history === undefined ? {} : { history }),
    ...(await accessOptions(flags, { dataDir, cwd: world.cwd() })),
  });
  const url = `https://${bracketed(clientAddress(flags.bindAddress))}:${server.address.port}`;
  const kubeconfig = resolve(
    world.cwd(),
    flags.writeKubeconfig ?? join(flags.dataDir, 'kubeconfig'),
  );
  const write = ({ authority, administrator }: Credentials): Promise<void> =>
    writeKubeconfig(kubeconfig, {
      server: url,
      authority: authority.certificate,
      client: administrator,
    });
  await write(credentials).catch(async (error: unknown) => {
    // A running server would keep the process alive.
    await server.stop();
    throw new UsageError(`${(error as Error).message}. Name another file with --write-kubeconfig.`);
  });
  const stopRenewal = startRenewal({
    certificates,
    current: credentials,
    async use(renewed) {
      server.useCertificates(renewed);
      await write(renewed);
    },
    clock: systemClock,
    log,
  });
  const stop = async (): Promise<void> => {
    stopRenewal();
    await server.stop();
    await store.close();
    await audit?.log.close();
  };
  return { server, url, kubeconfig, credentials, log, metrics, stop };
}

function checkServiceNodePort({
  kubernetesServiceNodePort,
  serviceNodePortRange,
}: ServerFlags): void {
  if (kubernetesServiceNodePort === 0) return;
  if (containsPort(serviceNodePortRange, kubernetesServiceNodePort)) return;
  throw new UsageError(
    `--kubernetes-service-node-port ${kubernetesServiceNodePort} is not in --service-node-port-range ${formatPortRange(serviceNodePortRange)}.`,
  );
}

/** The address for clients on this machine: loopback when the server listens on all addresses. */
function clientAddress(bind: string): string {
  return bind === '0.0.0.0' ? '127.0.0.1' : bind === '::' ? '::1' : bind;
}

/** The address for other machines: the bind address, unless it is unspecified or loopback; then the first address of this machine. */
function advertisedAddress({ advertiseAddress, bindAddress }: ServerFlags): string {
  if (advertiseAddress !== undefined) return advertiseAddress;
  const bound = parseAddress(bindAddress);
  if (bound !== undefined && !isUnspecified(bound) && !isLoopback(bound)) return bindAddress;
  const own = Object.values(networkInterfaces())
    .flat()
    .find(
      (i) =>
        i !== undefined &&
        !i.internal &&
        i.family === bound?.family &&
        !i.address.startsWith('fe80'),
    );
  return own?.address ?? clientAddress(bindAddress);
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

function portHint(error: unknown, { bindAddress, securePort }: ServerFlags): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new UsageError(
      `Cannot listen on ${bindAddress}:${securePort}: the port is in use. Choose another with --secure-port, or 0 for any free one.`,
    );
  }
  if (code === 'EADDRNOTAVAIL') {
    return new UsageError(
      `Cannot listen on ${bindAddress}:${securePort}: this machine has no such address. --bind-address must be one of its own, or 0.0.0.0 or :: for all.`,
    );
  }
  if (code === 'EACCES') {
    return new UsageError(
      `Cannot listen on ${bindAddress}:${securePort}: this user may not use that port. Choose one from 1024 with --secure-port.`,
    );
  }
  return error;
}

export function describeRanges({
  serviceClusterIpRange,
  serviceNodePortRange,
}: ServerFlags): string {
  return `${serviceClusterIpRange.map(formatCidr).join(', ')}; node ports ${formatPortRange(serviceNodePortRange)}`;
}

// Starts all parts of a cluster on one machine: server, controllers and DNS in this thread, each node in a thread of its own.
import { join, resolve } from 'node:path';
import {
  issueClientCertificate,
  issueNodeServingCertificate,
} from '../apiserver/certificates/authority.ts';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import { createLocalCall } from '../apiserver/local-call.ts';
import type { ApiCaller } from '../client/api-call.ts';
import type { Transport } from '../client/transport.ts';
import { defaultClusterName, startCloud } from '../cloud/run.ts';
import { type DnsOptions, type RunningDns, startDns } from '../dns/run.ts';
import { wireName } from '../dns/wire/names.ts';
import { checkProviderSettings } from '../flags/check-provider-settings.ts';
import { providerNamed } from '../flags/cloud-flags.ts';
import { UsageError, type World } from '../flags/command.ts';
import { controllerSettings } from '../flags/controller-flags.ts';
import { imageOptions } from '../flags/image-flags.ts';
import { readImageMap } from '../flags/image-map-file.ts';
import { maxPidsOf } from '../flags/pid-flag.ts';
import { modeFlagSettings } from '../flags/proxy-flags.ts';
import { type ServerNetwork, type StartedServer, startFromFlags } from '../flags/server-flags.ts';
import { type Cidr, formatCidr } from '../ip/cidr.ts';
import type { ImageMap } from '../node/runtimes/process/image-map.ts';
import { configProblems, makeConfig, type ProxySettings } from '../proxy/config.ts';
import { allModes } from '../proxy/modes/all.ts';
import { type BalancerPools, poolSettings } from './balancer-pools.ts';
import { clusterDnsAddresses, publishClusterDns } from './cluster-dns.ts';
import { leadControllers } from './lead-controllers.ts';
import { type ClusterImages, startImages } from './start-images.ts';
import { type NodeThread, startNodeThread } from './start-node-thread.ts';
import { publishStorageClass } from './storage-class.ts';
import type { UpFlags } from './up-flags.ts';
import { waitForNodes } from './wait-for-nodes.ts';

/** What differs between the networks `isolated` and `host`. */
export type ClusterLayout = {
  readonly server: ServerNetwork & { readonly advertiseAddress: string };
  /** Absent namespacePath: the network of this process. */
  readonly nodes: readonly {
    readonly name: string;
    readonly addresses: readonly string[];
    readonly namespacePath?: string;
  }[];
  readonly dns: Pick<DnsOptions, 'listen' | 'openSockets'>;
  /** Ranges of all pods, one of each family; each node is allocated a part. */
  readonly podRanges: readonly Cidr[];
  /** Addresses for load balancers; absent: none are allocated. */
  readonly balancerPools?: BalancerPools;
};

export type Cluster = {
  readonly started: StartedServer;
  /** The URL of the API server on the LAN. */
  readonly lanUrl: string;
  /** Administrator access by function calls, without a socket. */
  readonly transport: Transport;
  readonly nodes: readonly NodeThread[];
  readonly dns: RunningDns;
  /** DNS server addresses of pods. */
  readonly dnsAddresses: readonly string[];
  readonly onPulls: ClusterImages['onPulls'];
  /** Resolves when all nodes are ready and DNS is synced. */
  readonly ready: Promise<void>;
  readonly stop: () => Promise<void>;
};

export const clusterDomain = 'cluster.local';
const dnsTtlSeconds = 30;

export async function startCluster(
  flags: UpFlags,
  layout: ClusterLayout,
  world: World,
): Promise<Cluster> {
  // Invalid flags are reported before anything is started.
  const images = await readImageMap(flags.imageMap, world.cwd());
  const nodeImages = imageOptions(flags);
  checkProxy(flags, layout);
  await checkPools(layout);
  const { advertiseAddress, ...server } = layout.server;
  const started = await startFromFlags({ ...flags, advertiseAddress }, world, server);
  const shutdown = new AbortController();
  try {
    return await startParts({ flags, layout, started, images, nodeImages, world }, shutdown);
  } catch (error) {
    // Started parts would keep the process alive.
    shutdown.abort();
    await started.stop();
    throw error;
  }
}

type ClusterStart = {
  readonly flags: UpFlags;
  readonly layout: ClusterLayout;
  readonly started: StartedServer;
  readonly images: ImageMap;
  readonly nodeImages: ReturnType<typeof imageOptions>;
  readonly world: World;
};

async function startParts(start: ClusterStart, shutdown: AbortController): Promise<Cluster> {
  const { flags, layout, started } = start;
  const transport = localTransport(started);
  const controllers = leadControllers(flags, {
    transport,
    log: started.log,
    authorityCertificate: started.credentials.authority.certificate,
    metrics: started.metrics,
    controllers: flags.controllers,
    settings: controllerSettings({
      ...flags,
      allocateNodeCidrs: true,
      clusterCidr: layout.podRanges,
    }),
    signal: shutdown.signal,
  });
  const balancers = startBalancers(started, transport, layout, shutdown.signal);
  const dns = await startClusterDns(started, transport, layout, shutdown.signal);
  const caller = { transport, userAgent: 'fairlead-up' };
  const dnsAddresses = await publishDns(caller, flags, dns);
  await publishStorageClass(caller);
  const clusterImages = await startImages(flags, start.world, started.log);
  const nodes = await startNodes({ ...start, dnsAddresses, clusterImages });
  const stop = async (): Promise<void> => {
    for (const { send } of nodes) send({ kind: 'stop' });
    await Promise.all(nodes.map(({ ended }) => ended));
    await clusterImages.close();
    shutdown.abort();
    await Promise.all([controllers, balancers, dns.ended]);
    await started.stop();
  };
  const names = nodes.map(({ name }) => name);
  const ready = Promise.all([
    dns.synced,
    ...nodes.map((node) => node.ready),
    waitForNodes({ caller, log: started.log }, names, shutdown.signal),
  ]).then(() => undefined);
  const lanUrl = lanUrlOf(start);
  const { onPulls } = clusterImages;
  return { started, lanUrl, transport, nodes, dns, dnsAddresses, onPulls, ready, stop };
}

function localTransport({ server }: StartedServer): Transport {
  const send = createLocalCall(server.handle, {
    user: 'system:kube-controller-manager',
    groups: ['system:masters'],
  });
  return { send, close: () => Promise.resolve() };
}

function proxySettings(flags: UpFlags, { podRanges }: ClusterLayout): ProxySettings {
  return {
    ...modeFlagSettings(flags),
    clusterCIDRs: podRanges.map(formatCidr),
    // The kernel of this machine belongs to others, too.
    ...(flags.network === 'isolated' ? { conntrack: { accounting: true } } : {}),
  };
}

function checkProxy(flags: UpFlags, layout: ClusterLayout): void {
  const problems = configProblems(makeConfig(proxySettings(flags, layout)), allModes);
  if (problems.length > 0) throw new UsageError(`Cannot start the proxy: ${problems.join('; ')}.`);
}

async function checkPools({ balancerPools }: ClusterLayout): Promise<void> {
  if (balancerPools === undefined) return;
  const makeProvider = await providerNamed('local').load();
  const settings = poolSettings(balancerPools);
  await checkProviderSettings(makeProvider, { clusterName: defaultClusterName, settings });
}

/** Without pools, load balancers wait for another controller to allocate addresses. */
async function startBalancers(
  { log, metrics }: StartedServer,
  transport: Transport,
  { balancerPools }: ClusterLayout,
  signal: AbortSignal,
): Promise<void> {
  if (balancerPools === undefined) return;
  const makeProvider = await providerNamed('local').load();
  const settings = poolSettings(balancerPools);
  await startCloud({ transport, log, metrics, makeProvider, settings, signal });
}

function startClusterDns(
  { log }: StartedServer,
  transport: Transport,
  { dns }: ClusterLayout,
  signal: AbortSignal,
): Promise<RunningDns> {
  const domain = wireName(clusterDomain);
  if (domain === undefined) throw new Error(`${clusterDomain} is not a domain name`);
  return startDns({
    ...{ transport, log, signal, domain },
    ...dns,
    ttl: dnsTtlSeconds,
    cacheSeconds: dnsTtlSeconds,
    pods: 'insecure',
    forward: { file: '/etc/resolv.conf' },
  });
}

async function publishDns(
  caller: ApiCaller,
  { serviceClusterIpRange: serviceRanges }: UpFlags,
  { addresses }: RunningDns,
): Promise<readonly string[]> {
  const families = new Set(addresses.map(({ host }) => (host.includes(':') ? 'IPv6' : 'IPv4')));
  const ranges = serviceRanges.filter(({ family }) => families.has(family));
  await publishClusterDns(caller, { ranges, servers: addresses });
  return clusterDnsAddresses(ranges);
}

type NodeStart = ClusterStart & {
  readonly dnsAddresses: readonly string[];
  readonly clusterImages: ClusterImages;
};

async function startNodes(start: NodeStart): Promise<readonly NodeThread[]> {
  const { flags, layout, started, images, nodeImages, clusterImages, dnsAddresses, world } = start;
  const { collection: imageCollection, maxParallelPulls } = nodeImages;
  const { authority } = started.credentials;
  const nodes: NodeThread[] = [];
  const now = world.now();
  const proxy = client(authority, now, 'system:kube-proxy', ['system:node-proxier']);
  const announcer = client(authority, now, 'fairlead:announcer', []);
  for (const { name, addresses, namespacePath } of layout.nodes) {
    const credentials = {
      agent: client(authority, now, `system:node:${name}`, ['system:nodes']),
      proxy,
      announcer,
      serving: issueNodeServingCertificate(authority, {
        node: name,
        names: [name, ...addresses],
        now,
      }),
    };
    const node = startNodeThread(
      {
        ...{ name, addresses, credentials, images, clusterDomain },
        proxy: proxySettings(flags, layout),
        server: lanUrlOf(start),
        authority: authority.certificate,
        dataDirectory: join(resolve(world.cwd(), flags.dataDir), 'nodes', name),
        privatePaths: [resolve(world.cwd(), flags.dataDir)],
        clusterDns: dnsAddresses,
        logLevel: flags.logLevel,
        shutdownGraceMs: flags.shutdownGracePeriod,
        ...maxPidsOf(flags),
        cleansUp: namespacePath === undefined,
        announces: layout.balancerPools !== undefined,
        ...(namespacePath === undefined ? {} : { namespacePath }),
        imageDirectory: clusterImages.directory,
        imageCollection,
        ...(maxParallelPulls === undefined ? {} : { maxParallelPulls }),
      },
      clusterImages.pulls,
    );
    nodes.push(node);
  }
  return nodes;
}

function lanUrlOf({ layout, started }: ClusterStart): string {
  const { advertiseAddress: host } = layout.server;
  return `https://${host.includes(':') ? `[${host}]` : host}:${started.server.address.port}`;
}

const validityDays = 365;

function client(
  authority: KeyPair,
  now: number,
  commonName: string,
  organizations: readonly string[],
): KeyPair {
  return issueClientCertificate(authority, { commonName, organizations, days: validityDays, now });
}

// All parts of a cluster on one machine: server and controllers in this thread, DNS beside it, each node in a thread of its own.
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
import { readImageMap } from '../flags/image-map-file.ts';
import { maxPidsOf } from '../flags/pid-flag.ts';
import { modeFlagSettings } from '../flags/proxy-flags.ts';
import { type ServerPlace, type StartedServer, startFromFlags } from '../flags/server-flags.ts';
import { systemClock } from '../host/clock.ts';
import { type Cidr, formatCidr } from '../ip/cidr.ts';
import type { ImageMap } from '../node/runtimes/process/image-map.ts';
import { configProblems, makeConfig, type ProxySettings } from '../proxy/config.ts';
import { allModes } from '../proxy/modes/all.ts';
import { type BalancerPools, poolSettings } from './balancer-pools.ts';
import { clusterDnsAddresses, publishClusterDns } from './cluster-dns.ts';
import { leadControllers } from './lead-controllers.ts';
import { createReleases } from './release-pods.ts';
import { type NodeThread, startNodeThread } from './start-node-thread.ts';
import type { UpFlags } from './up-flags.ts';
import { waitForNodes } from './wait-for-nodes.ts';

/** Where the cluster is: what `isolated` and `host` differ in. */
export type ClusterPlace = {
  readonly server: ServerPlace & { readonly advertiseAddress: string };
  /** Absent path: the network of this process. */
  readonly nodes: readonly {
    readonly name: string;
    readonly addresses: readonly string[];
    readonly namespacePath?: string;
  }[];
  readonly dns: Pick<DnsOptions, 'listen' | 'openSockets'>;
  /** Of all pods, one of each family; each node gets a piece. */
  readonly podRanges: readonly Cidr[];
  /** Addresses for load balancers; absent: none are given out. */
  readonly balancerPools?: BalancerPools;
};

export type Cluster = {
  readonly started: StartedServer;
  /** The server's URL for nodes and their neighbours. */
  readonly lanUrl: string;
  /** As an administrator, without a socket. */
  readonly transport: Transport;
  readonly nodes: readonly NodeThread[];
  readonly dns: RunningDns;
  /** The addresses that pods ask for names. */
  readonly dnsAddresses: readonly string[];
  /** Resolves when all nodes are at work and all names are known. */
  readonly ready: Promise<void>;
  readonly stop: () => Promise<void>;
};

export const clusterDomain = 'cluster.local';
const dnsTtlSeconds = 30;

export async function startCluster(
  flags: UpFlags,
  place: ClusterPlace,
  world: World,
): Promise<Cluster> {
  // What can be wrong with flags is told before anything is started.
  const images = await readImageMap(flags.imageMap, world.cwd());
  checkProxy(flags, place);
  await checkPools(place);
  const { advertiseAddress, ...server } = place.server;
  const started = await startFromFlags({ ...flags, advertiseAddress }, world, server);
  const ending = new AbortController();
  try {
    return await startParts({ flags, place, started, images, world }, ending);
  } catch (error) {
    // What runs already would keep the process from ending.
    ending.abort();
    await started.stop();
    throw error;
  }
}

type ClusterStart = {
  readonly flags: UpFlags;
  readonly place: ClusterPlace;
  readonly started: StartedServer;
  readonly images: ImageMap;
  readonly world: World;
};

async function startParts(start: ClusterStart, ending: AbortController): Promise<Cluster> {
  const { flags, place, started } = start;
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
      clusterCidr: place.podRanges,
    }),
    signal: ending.signal,
  });
  const balancers = startBalancers(started, transport, place, ending.signal);
  const dns = await startClusterDns(started, transport, place, ending.signal);
  const caller = { transport, userAgent: 'fairlead-up' };
  const dnsAddresses = await announceDns(caller, flags, dns);
  const nodes = await startNodes({ ...start, dnsAddresses });
  const stop = async (): Promise<void> => {
    for (const { send } of nodes) send({ kind: 'stop' });
    await Promise.all(nodes.map(({ ended }) => ended));
    ending.abort();
    await Promise.all([controllers, balancers, dns.ended]);
    await started.stop();
  };
  const names = nodes.map(({ name }) => name);
  const ready = Promise.all([
    dns.synced,
    ...nodes.map((node) => node.ready),
    waitForNodes({ caller, log: started.log }, names, ending.signal),
  ]).then(() => undefined);
  const lanUrl = lanUrlOf(start);
  return { started, lanUrl, transport, nodes, dns, dnsAddresses, ready, stop };
}

function localTransport({ server }: StartedServer): Transport {
  const send = createLocalCall(server.handle, {
    user: 'system:kube-controller-manager',
    groups: ['system:masters'],
  });
  return { send, close: () => Promise.resolve() };
}

function proxySettings(flags: UpFlags, { podRanges }: ClusterPlace): ProxySettings {
  return { ...modeFlagSettings(flags), clusterCIDRs: podRanges.map(formatCidr) };
}

function checkProxy(flags: UpFlags, place: ClusterPlace): void {
  const problems = configProblems(makeConfig(proxySettings(flags, place)), allModes);
  if (problems.length > 0) throw new UsageError(`Cannot start the proxy: ${problems.join('; ')}.`);
}

async function checkPools({ balancerPools }: ClusterPlace): Promise<void> {
  if (balancerPools === undefined) return;
  const makeProvider = await providerNamed('local').load();
  const settings = poolSettings(balancerPools);
  await checkProviderSettings(makeProvider, { clusterName: defaultClusterName, settings });
}

/** Addresses for load balancers come from the pool of the place; without one, they wait for whoever brings some. */
async function startBalancers(
  { log, metrics }: StartedServer,
  transport: Transport,
  { balancerPools }: ClusterPlace,
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
  { dns }: ClusterPlace,
  signal: AbortSignal,
): Promise<RunningDns> {
  const domain = wireName(clusterDomain);
  if (domain === undefined) throw new Error(`${clusterDomain} is no domain`);
  return startDns({
    ...{ transport, log, signal, domain },
    ...dns,
    ttl: dnsTtlSeconds,
    cacheSeconds: dnsTtlSeconds,
    pods: 'insecure',
    forward: { file: '/etc/resolv.conf' },
  });
}

async function announceDns(
  caller: ApiCaller,
  { serviceClusterIpRange: serviceRanges }: UpFlags,
  { addresses }: RunningDns,
): Promise<readonly string[]> {
  const families = new Set(addresses.map(({ host }) => (host.includes(':') ? 'IPv6' : 'IPv4')));
  const ranges = serviceRanges.filter(({ family }) => families.has(family));
  await publishClusterDns(caller, { ranges, servers: addresses });
  return clusterDnsAddresses(ranges);
}

type NodeStart = ClusterStart & { readonly dnsAddresses: readonly string[] };

async function startNodes(start: NodeStart): Promise<readonly NodeThread[]> {
  const { flags, place, started, images, dnsAddresses, world } = start;
  const { authority } = started.credentials;
  const nodes: NodeThread[] = [];
  const releases = createReleases({ clock: systemClock, nodes: () => nodes });
  const now = world.now();
  const proxy = client(authority, now, 'system:kube-proxy', ['system:node-proxier']);
  const announcer = client(authority, now, 'fairlead:announcer', []);
  for (const { name, addresses, namespacePath } of place.nodes) {
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
        proxy: proxySettings(flags, place),
        server: lanUrlOf(start),
        authority: authority.certificate,
        dataDirectory: join(resolve(world.cwd(), flags.dataDir), 'nodes', name),
        keptPaths: [resolve(world.cwd(), flags.dataDir)],
        clusterDns: dnsAddresses,
        logLevel: flags.logLevel,
        shutdownGraceMs: flags.shutdownGracePeriod,
        ...maxPidsOf(flags),
        cleansUp: namespacePath === undefined,
        announces: place.balancerPools !== undefined,
        ...(namespacePath === undefined ? {} : { namespacePath }),
      },
      {
        release: (from, id, ips) => releases.begin(from, id, ips),
        letGo: (from, id) => releases.letGo(from, id),
      },
    );
    nodes.push(node);
  }
  return nodes;
}

function lanUrlOf({ place, started }: ClusterStart): string {
  const { advertiseAddress: host } = place.server;
  return `https://${host.includes(':') ? `[${host}]` : host}:${started.server.address.port}`;
}

const days = 365;

function client(
  authority: KeyPair,
  now: number,
  commonName: string,
  organizations: readonly string[],
): KeyPair {
  return issueClientCertificate(authority, { commonName, organizations, days, now });
}

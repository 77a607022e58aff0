// Cluster DNS: watches the API server in this thread, answers in another.
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import type { Transport } from '../client/transport.ts';
import { aborted, type Clock, sleep, systemClock } from '../host/clock.ts';
import { freeMemory } from '../host/free-memory.ts';
import { isLoopback, isUnspecified, parseAddress } from '../ip/address.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import type { PodMode } from './cluster/find-rows.ts';
import { makeCounterMemory } from './counters.ts';
import { observeTransport } from './forward/observed-transport.ts';
import { type ServerAddress, type ServerGroup, serverText } from './forward/upstream-servers.ts';
import type { SocketDescriptors } from './messages.ts';
import { counterText, createSyncMetrics, measureContact } from './metrics.ts';
import { parseResolverConfig, type ResolverConfig } from './resolv-conf.ts';
import { type AnswerThread, startAnswerThread } from './run-answer-thread.ts';
import { type Watching, watchCluster } from './run-watch.ts';
import { type DnsStatusServer, serveDnsStatus } from './serve-status.ts';
import { rootName, type WireName } from './wire/names.ts';

export type DnsOptions = {
  readonly transport: Transport;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly listen: readonly ServerAddress[];
  /** Opens the sockets of an address, on another network than that of this process; others are asked from here all the same. */
  readonly openSockets?: (address: ServerAddress) => SocketDescriptors;
  readonly domain: WireName;
  readonly ttl: number;
  readonly pods: PodMode;
  /** Whom to ask about other names: servers, or the file that names them; an empty list asks nobody. */
  readonly forward: { readonly file: string } | { readonly servers: readonly ServerAddress[] };
  /** Servers for single zones. */
  readonly stubDomains?: readonly ServerGroup[];
  readonly cacheSeconds: number;
  readonly allow?: readonly string[];
  readonly autopath?: boolean;
  readonly logQueries?: boolean;
  readonly endpointPodNames?: boolean;
  readonly ignoreEmptyService?: boolean;
  readonly watchEndpoints?: boolean;
  /** Only services, slices and pods with these labels have names. */
  readonly labelSelector?: string;
  /** Only what is in these namespaces has names; absent: in all. */
  readonly namespaces?: readonly string[];
  /** Only what is in namespaces with these labels has names. */
  readonly namespaceSelector?: string;
  readonly batches?: boolean;
  readonly status?: readonly ServerAddress[];
  /** Whether to go on without a status address that is taken. */
  readonly isStatusOptional?: boolean;
  /** Shown beside its own; absent: its own alone. */
  readonly metrics?: MetricsRegistry;
  /** How long to go on after the signal, while others learn that this server is not ready any more. */
  readonly lameDuckMs?: number;
};

export type RunningDns = {
  readonly addresses: readonly ServerAddress[];
  /** Whether packets are taken in batches. */
  readonly inBatches: boolean;
  /** Where the status is served, with the ports that were chosen. */
  readonly statusAddresses: readonly ServerAddress[];
  /** Resolves when all names are known; false when the end came first. */
  readonly synced: Promise<boolean>;
  /** Resolves when all has ended after the signal. */
  readonly ended: Promise<void>;
};

const userAgent = 'fairlead-dns';
/** How often the file that names the upstream servers is looked at. */
const rereadMs = 5000;

export async function startDns(options: DnsOptions): Promise<RunningDns> {
  const { signal, clock = systemClock } = options;
  const log = options.log.with({ part: 'dns' });
  const ending = new AbortController();
  const opened: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    ending.abort();
    await Promise.all(opened.map((close) => close()));
  };
  try {
    const running = await start(
      { ...options, clock, log, signal: ending.signal, isEnding: () => signal.aborted },
      opened,
    );
    const ended = aborted(signal)
      .then(() => sleep(clock, options.lameDuckMs ?? 0, new AbortController().signal))
      .then(end);
    return { ...running, ended };
  } catch (error) {
    await end();
    throw error;
  }
}

type Running = DnsOptions & { readonly clock: Clock; readonly isEnding: () => boolean };

/** Puts what has to be closed into `opened`, in case that a later step fails. */
async function start(
  options: Running,
  opened: (() => Promise<void>)[],
): Promise<Omit<RunningDns, 'ended'>> {
  const { signal, clock, log } = options;
  const registry = options.metrics ?? createMetrics();
  const counters = makeCounterMemory();
  let send: AnswerThread['send'] = () => {};
  const watching = startWatching(options, registry, (message) => send(message));
  opened.push(() => watching.ended);
  const queries = createQueryFollowers((isOn) => send({ kind: 'log', isOn }));
  const sync = { isDone: false };
  const config = await readServers(options, (message, fields) => log.warn(message, fields));
  const thread = await startAnswerThread(
    {
      worker: workerOptions(options, config, counters),
      clock,
      log,
      snapshot: watching.snapshot,
      isSynced: () => sync.isDone,
      answered: queries.write,
      ...(options.openSockets === undefined ? {} : { openSockets: options.openSockets }),
    },
    signal,
  );
  opened.push(() => thread.ended);
  send = thread.send;
  // What arrived before there was a thread to tell.
  thread.resend();
  const synced = announceSync(watching, thread, sync, log);
  if (options.logQueries) queries.follow((lines) => logQueries(lines, log));
  const server = `dns://:${thread.addresses[0]?.port ?? 0}`;
  const status = await startStatus(options, {
    isReady: () => sync.isDone && !options.isEnding(),
    metricsText: async () => {
      // The thread brings its counters up to date when it is asked.
      const ofThread = await thread.metricsText();
      return counterText(counters, server) + registry.text() + ofThread;
    },
    followQueries: queries.follow,
  });
  opened.push(...status.map(({ close }) => close));
  const rereading = reread(options, thread, clock, log);
  opened.push(() => rereading);
  return {
    addresses: thread.addresses,
    inBatches: thread.inBatches,
    statusAddresses: status.map(({ address }) => address),
    synced,
  };
}

function startWatching(
  options: Running,
  registry: MetricsRegistry,
  send: AnswerThread['send'],
): Watching {
  const { signal, clock, log, transport } = options;
  const api = observeTransport(transport, {
    clock,
    changed: (isConnected) =>
      isConnected
        ? log.info('API server answers')
        : log.warn('API server does not answer, names stay as they are'),
  });
  measureContact(registry, api.contact);
  return watchCluster(
    {
      ...options,
      caller: { transport: api.transport, userAgent },
      endpointPodNames: options.endpointPodNames ?? false,
      watchEndpoints: options.watchEndpoints ?? true,
      watchPods: needsPods(options),
      metrics: createSyncMetrics(registry),
      changed: (changes) =>
        send({ kind: 'changes', changes, serial: Math.floor(clock.now() / 1000) }),
    },
    signal,
  );
}

function needsPods({ pods, autopath, logQueries }: DnsOptions): boolean {
  return pods === 'verified' || autopath === true || logQueries === true;
}

async function announceSync(
  watching: Watching,
  thread: AnswerThread,
  sync: { isDone: boolean },
  log: Log,
): Promise<boolean> {
  const isSynced = await watching.synced;
  if (!isSynced) return false;
  sync.isDone = true;
  thread.send({ kind: 'synced' });
  freeMemory();
  log.info('all names are known');
  return true;
}

function workerOptions(
  options: DnsOptions,
  config: Servers,
  counters: ReturnType<typeof makeCounterMemory>,
) {
  const { listen, domain, ttl, cacheSeconds, pods, allow, autopath } = options;
  return {
    listen,
    domain,
    ttl,
    cacheSeconds,
    pods,
    ignoreEmptyService: options.ignoreEmptyService ?? false,
    ownAddresses: ownAddresses(listen),
    groups: config.groups,
    batches: options.batches ?? true,
    counters,
    ...(allow === undefined ? {} : { allow }),
    ...(autopath ? { autopath: { hostSearch: config.search } } : {}),
  };
}

type Servers = { readonly groups: readonly ServerGroup[]; readonly search: readonly WireName[] };

const defaultPort = 53;

/** The groups to ask; without those that are ourselves. */
async function readServers(options: DnsOptions, warn: Log['warn']): Promise<Servers> {
  const { forward, stubDomains = [] } = options;
  const config =
    'file' in forward ? await readResolverConfig(forward.file, warn) : { servers: [], search: [] };
  const named =
    'file' in forward
      ? config.servers.map((host) => ({ host, port: defaultPort }))
      : forward.servers;
  const own = new Set(options.listen.map(serverText));
  const servers = named.filter((server) => !own.has(serverText(server)));
  if (servers.length < named.length) warn('this server is its own upstream, and is left out');
  const groups = [...stubDomains, ...(servers.length === 0 ? [] : [{ zone: rootName, servers }])];
  return { groups, search: config.search };
}

async function readResolverConfig(file: string, warn: Log['warn']): Promise<ResolverConfig> {
  try {
    return parseResolverConfig(await readFile(file, 'utf8'));
  } catch (error) {
    // A machine without one has nobody to ask; names of the cluster are answered all the same.
    warn('cannot read the upstream servers', { file, error: String(error) });
    return { servers: [], search: [] };
  }
}

/** A laptop that changes its network has other servers afterwards. */
async function reread(
  options: DnsOptions,
  thread: AnswerThread,
  clock: Clock,
  log: Log,
): Promise<void> {
  if (!('file' in options.forward)) return;
  // What is wrong with it has been said at the start.
  const silent = (): void => {};
  let before = JSON.stringify(await readServers(options, silent));
  while (!options.signal.aborted) {
    await sleep(clock, rereadMs, options.signal);
    const after = await readServers(options, silent);
    if (JSON.stringify(after) === before) continue;
    before = JSON.stringify(after);
    log.info('upstream servers changed');
    thread.send({ kind: 'servers', groups: after.groups });
  }
}

/** Where others reach this server: what it listens on, and this machine's addresses where that is all of them. */
function ownAddresses(listen: readonly ServerAddress[]): readonly string[] {
  const bound = listen.flatMap(({ host }) => {
    const address = parseAddress(host);
    if (address === undefined) return [];
    if (!isUnspecified(address)) return [host];
    return Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family }) => family === address.family)
      .map((one) => one.address);
  });
  const outside = bound.filter((text) => {
    const address = parseAddress(text);
    return address !== undefined && !isLoopback(address);
  });
  return [...new Set(outside.length > 0 ? outside : bound)];
}

type Follower = (lines: readonly string[]) => void;

/** Answers are written down only while somebody reads. */
function createQueryFollowers(turn: (isOn: boolean) => void) {
  const followers = new Set<Follower>();
  return {
    write(lines: readonly string[]): void {
      for (const follower of followers) follower(lines);
    },
    follow(follower: Follower): () => void {
      followers.add(follower);
      if (followers.size === 1) turn(true);
      return () => {
        followers.delete(follower);
        if (followers.size === 0) turn(false);
      };
    },
  };
}

function logQueries(lines: readonly string[], log: Log): void {
  for (const line of lines) log.info('answered', JSON.parse(line));
}

async function startStatus(
  { status = [], isStatusOptional = false, log }: DnsOptions,
  parts: Omit<Parameters<typeof serveDnsStatus>[0], 'address'>,
): Promise<readonly DnsStatusServer[]> {
  const servers: DnsStatusServer[] = [];
  for (const address of status) {
    try {
      servers.push(await serveDnsStatus({ ...parts, address }));
    } catch (error) {
      const text = `Cannot listen on ${serverText(address)}: ${String(error)}`;
      if (!isStatusOptional) throw new Error(text, { cause: error });
      log.warn('metrics are not served', { error: text });
    }
  }
  return servers;
}

// Runs cluster DNS: this thread watches the API server, another one answers.
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { answerQuestions, answerTo } from '../client/parts/answer-questions.ts';
import type { Transport } from '../client/transport.ts';
import { aborted, type Clock, sleep, systemClock } from '../host/clock.ts';
import { freeMemory } from '../host/free-memory.ts';
import { isLoopback, isUnspecified, parseAddress } from '../ip/address.ts';
import { partOn } from '../kinds/part/names.ts';
import { type Position, positionQuestion, type Revisions } from '../kinds/part/position.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import type { PodMode } from './cluster/find-rows.ts';
import { makeCounterMemory } from './counters.ts';
import { type ServerAddress, type ServerGroup, serverText } from './forward/upstream-servers.ts';
import type { SocketDescriptors } from './messages.ts';
import { counterText, createSyncMetrics, measureContact } from './metrics.ts';
import { observeTransport } from './observe-transport.ts';
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
  /** Opens the sockets of an address in another network namespace; upstream servers are still reached from this one. */
  readonly openSockets?: (address: ServerAddress) => SocketDescriptors;
  readonly domain: WireName;
  readonly ttl: number;
  readonly pods: PodMode;
  /** The upstream servers, or the resolv.conf that lists them; an empty list disables forwarding. */
  readonly forward: { readonly file: string } | { readonly servers: readonly ServerAddress[] };
  /** Upstream servers of single zones. */
  readonly stubDomains?: readonly ServerGroup[];
  readonly cacheSeconds: number;
  readonly allow?: readonly string[];
  readonly autopath?: boolean;
  readonly logQueries?: boolean;
  readonly endpointPodNames?: boolean;
  readonly ignoreEmptyService?: boolean;
  readonly watchEndpoints?: boolean;
  /** Only Services, EndpointSlices and Pods with these labels have names. */
  readonly labelSelector?: string;
  /** Only these namespaces have names; absent: all. */
  readonly namespaces?: readonly string[];
  /** Only namespaces with these labels have names. */
  readonly namespaceSelector?: string;
  readonly batches?: boolean;
  readonly status?: readonly ServerAddress[];
  /** Whether a status address that is in use is only a warning. */
  readonly isStatusOptional?: boolean;
  /** More metrics to serve; absent: only those of DNS. */
  readonly metrics?: MetricsRegistry;
  /** How long to keep answering after the signal, while clients observe that this server is not ready. */
  readonly lameDuckMs?: number;
};

export type RunningDns = {
  readonly addresses: readonly ServerAddress[];
  /** Whether packets are received in batches. */
  readonly inBatches: boolean;
  /** The bound status addresses. */
  readonly statusAddresses: readonly ServerAddress[];
  /** Resolves when all names are known; false when the signal was aborted first. */
  readonly synced: Promise<boolean>;
  /** Resolves when everything has stopped after the signal. */
  readonly ended: Promise<void>;
};

const userAgent = 'fairlead-dns';
/** How often resolv.conf is read. */
const resolverConfigPollMs = 5000;

export async function startDns(options: DnsOptions): Promise<RunningDns> {
  const { signal, clock = systemClock } = options;
  const log = options.log.with({ part: 'dns' });
  const stopping = new AbortController();
  const opened: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(opened.map((close) => close()));
  };
  try {
    const running = await start(
      { ...options, clock, log, signal: stopping.signal, isEnding: () => signal.aborted },
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

/** Adds to `opened` what must be closed, also when a later step fails. */
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
  // Changes that arrived before the thread was running.
  thread.resend();
  const synced = announceSync(watching, thread, sync, log);
  if (options.logQueries) queries.follow((lines) => logQueries(lines, log));
  const server = `dns://:${thread.addresses[0]?.port ?? 0}`;
  const status = await startStatus(options, {
    isReady: () => sync.isDone && !options.isEnding(),
    metricsText: async () => {
      // The thread updates its gauges on this request.
      const threadText = await thread.metricsText();
      return counterText(counters, server) + registry.text() + threadText;
    },
    followQueries: queries.follow,
  });
  opened.push(...status.map(({ close }) => close));
  const following = followResolverConfig(options, thread, clock, log);
  opened.push(() => following);
  const answering = answerForNames(options, watching, thread);
  opened.push(() => answering);
  return {
    addresses: thread.addresses,
    inBatches: thread.inBatches,
    statusAddresses: status.map(({ address }) => address),
    synced,
  };
}

/** Answers questions of the API server about the names that this server has. */
function answerForNames(
  { transport, clock, log, signal }: Running,
  { position }: Watching,
  { applied }: AnswerThread,
): Promise<void> {
  const answer = async (requested: Revisions): Promise<Position> => {
    const reported = position(requested);
    if (!(await applied())) throw new Error('the answering thread does not respond');
    return reported;
  };
  return answerQuestions(
    {
      ...{ caller: { transport, userAgent }, clock, log },
      part: partOn('dns', hostname()),
      handlers: [answerTo(positionQuestion, answer)],
    },
    signal,
  );
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
        ? log.info('Connected to the API server')
        : log.warn('Lost connection to the API server, serving the last known names'),
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
  log.info('Synced names');
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

/** The upstream servers per zone, without this server itself. */
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
  if (servers.length < named.length) warn('Ignored upstream server: it is this server');
  const groups = [...stubDomains, ...(servers.length === 0 ? [] : [{ zone: rootName, servers }])];
  return { groups, search: config.search };
}

async function readResolverConfig(file: string, warn: Log['warn']): Promise<ResolverConfig> {
  try {
    return parseResolverConfig(await readFile(file, 'utf8'));
  } catch (error) {
    // Without a resolv.conf only names of the cluster are resolved.
    warn('Failed to read upstream servers', { file, error: String(error) });
    return { servers: [], search: [] };
  }
}

/** Follows resolv.conf, which changes for example when a laptop changes its network. */
async function followResolverConfig(
  options: DnsOptions,
  thread: AnswerThread,
  clock: Clock,
  log: Log,
): Promise<void> {
  if (!('file' in options.forward)) return;
  // Problems of the file were logged at the start.
  const ignoreWarnings = (): void => {};
  let before = JSON.stringify(await readServers(options, ignoreWarnings));
  while (!options.signal.aborted) {
    await sleep(clock, resolverConfigPollMs, options.signal);
    const after = await readServers(options, ignoreWarnings);
    if (JSON.stringify(after) === before) continue;
    before = JSON.stringify(after);
    log.info('Upstream servers changed');
    thread.send({ kind: 'servers', groups: after.groups });
  }
}

/** The addresses under which clients reach this server; a wildcard address stands for all addresses of the machine. */
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

/** The query log is on only while it has a reader. */
function createQueryFollowers(setLogging: (isOn: boolean) => void) {
  const followers = new Set<Follower>();
  return {
    write(lines: readonly string[]): void {
      for (const follower of followers) follower(lines);
    },
    follow(follower: Follower): () => void {
      followers.add(follower);
      if (followers.size === 1) setLogging(true);
      return () => {
        followers.delete(follower);
        if (followers.size === 0) setLogging(false);
      };
    },
  };
}

function logQueries(lines: readonly string[], log: Log): void {
  for (const line of lines) log.info('Answered query', JSON.parse(line));
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
      log.warn('Failed to serve metrics', { error: text });
    }
  }
  return servers;
}

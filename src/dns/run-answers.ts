// Assembles the answering thread: zone, chain, listeners.
import { isIP } from 'node:net';
import type { Clock } from '../host/clock.ts';
import { freeMemory } from '../host/free-memory.ts';
import { parseCidr } from '../ip/cidr.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import { type Answered, type Answerer, createAnswerer } from './answerer.ts';
import { createChain } from './chain.ts';
import { createZone, type Zone } from './cluster/zone.ts';
import { type Counters, createCounters } from './counters.ts';
import { createUpstream } from './forward/forward.ts';
import { probeForLoop } from './forward/probe-loop.ts';
import { type ServerGroup, serverText } from './forward/upstream-servers.ts';
import { createLoopGuard } from './handlers/loop.ts';
import { createUpstreamCache } from './handlers/upstream-cache.ts';
import type { AnswerWorkerOptions, FromAnswerer, ToAnswerer } from './messages.ts';
import { createUpstreamMetrics } from './metrics.ts';
import { queryLine } from './query-log.ts';
import { createResponseCache, type ResponseCache } from './response-cache.ts';
import { type Listening, startListening } from './serve.ts';

export type AnsweringDependencies = {
  readonly post: (message: FromAnswerer) => void;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  /** Seeds the shuffling of addresses. */
  readonly seed: number;
};

export type Answering = {
  readonly receive: (message: ToAnswerer) => void;
  /** Resolves after it has stopped; rejects when an address cannot be bound. */
  readonly ended: Promise<void>;
};

/** CoreDNS' capacity, and a bound in bytes on what clients can fill it with. */
const cacheLimits = { entries: 9984, bytes: 16 * 1024 * 1024, staleSeconds: 3600 };
/** About 300 bytes each: enough for the queried names of 10,000 Services. */
const maxCachedResponses = 50_000;
/** The TTL of the dns-version record, unless the maximum TTL is lower. */
const versionTtl = 28_800;
/** How long deferred replies may take after the stop. */
const drainMs = 2000;
/** Node sends a UDP packet in one of the next iterations of the event loop. */
const socketFlushMs = 20;
/** The query log is sent to the watching thread in batches. */
const linesPerMessage = 100;
const flushDelayMs = 100;

export function startAnswering(
  options: AnswerWorkerOptions,
  dependencies: AnsweringDependencies,
): Answering {
  const zone = createZone();
  const counters = createCounters(options.counters);
  const stopping = new AbortController();
  const state = { isSynced: false, serial: Math.floor(dependencies.clock.now() / 1000) };
  const servers = createServers(options.groups, dependencies, stopping.signal);
  const responses = createResponseCache(maxCachedResponses);
  const { answerer, cacheSize } = assemble({
    options,
    dependencies,
    zone,
    counters,
    state,
    servers,
    responses,
    signal: stopping.signal,
  });
  const log = createQueryLog(answerer, zone, dependencies);
  const stop = createStop();
  const count = (): void => {
    const { services, endpoints } = zone.size();
    const { success, denial } = cacheSize();
    counters.set('services', services);
    counters.set('endpoints', endpoints);
    counters.set('cacheEntriesSuccess', success);
    counters.set('cacheEntriesDenial', denial);
    counters.set('keptAnswers', responses.size());
  };
  const receive = (message: ToAnswerer): void => {
    switch (message.kind) {
      case 'changes':
        state.serial = message.serial;
        for (const change of message.changes) zone.apply(change);
        return;
      case 'synced':
        // Collect the garbage of the initial state before this server reports ready.
        freeMemory();
        state.isSynced = true;
        return;
      case 'servers':
        servers.set(message.groups);
        return;
      case 'log':
        log.set(message.isOn);
        return;
      case 'metrics':
        count();
        dependencies.post({ kind: 'metrics', id: message.id, text: dependencies.metrics.text() });
        return;
      case 'apply':
        dependencies.post({ kind: 'applied', id: message.id, text: 'applied' });
        return;
      case 'stop':
        stop.now();
    }
  };
  const run = async (): Promise<void> => {
    const { clock } = dependencies;
    const listening = await startListening({ options, answerer, counters, now, clock });
    const { addresses, inBatches } = listening;
    dependencies.post({ kind: 'listening', addresses, inBatches });
    servers.probe();
    await stop.requested;
    await drain(listening, answerer, clock);
    stopping.abort();
    log.set(false);
    await listening.close();
    dependencies.post({ kind: 'stopped' });
  };
  return { receive, ended: run() };
}

const now = (): number => performance.now();

type Assembly = {
  readonly options: AnswerWorkerOptions;
  readonly dependencies: AnsweringDependencies;
  readonly zone: Zone;
  readonly counters: Counters;
  readonly state: { readonly isSynced: boolean; readonly serial: number };
  readonly servers: ReturnType<typeof createServers>;
  readonly responses: ResponseCache;
  readonly signal: AbortSignal;
};

function assemble(parts: Assembly) {
  const { options, dependencies, zone, counters, state, servers, responses, signal } = parts;
  const { clock, log } = dependencies;
  const maxTtl = options.cacheSeconds > 0 ? options.cacheSeconds : versionTtl;
  const entries = options.cacheSeconds > 0 ? cacheLimits.entries : 0;
  const cache = createUpstreamCache({ ...cacheLimits, entries });
  const { autopath, allow } = options;
  const cidrs = allow?.flatMap((text) => parseCidr(text) ?? []);
  const metrics = createUpstreamMetrics(dependencies.metrics);
  const upstream = createUpstream(
    { groups: servers.get, cache, maxTtl, clock, log, counters, metrics },
    signal,
  );
  const chain = createChain({
    zone,
    cluster: { ...options, versionTtl: Math.min(versionTtl, maxTtl) },
    isSynced: () => state.isSynced,
    serial: () => state.serial,
    cacheResponse: responses.set,
    loop: servers.loop,
    cache,
    upstream,
    now: clock.now,
    ...(autopath === undefined ? {} : { autopath: { ...autopath, domain: options.domain } }),
    ...(cidrs === undefined ? {} : { allow: cidrs }),
  });
  const onPanic = (error: unknown): void => {
    counters.add('panics');
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('Failed to answer query', { error: reason });
  };
  const random = createRandom(dependencies.seed);
  const recurses = (): boolean => servers.get().length > 0;
  const answerer = createAnswerer({ chain, responses, counters, recurses, random, now, onPanic });
  return { answerer, cacheSize: cache.size };
}

/** The current upstream servers, without those that forward to this server. */
function createServers(
  first: readonly ServerGroup[],
  { log, clock }: AnsweringDependencies,
  signal: AbortSignal,
) {
  const guard = createLoopGuard();
  const looping = new Set<string>();
  let groups = first;
  let usable = first;
  const choose = (): void => {
    usable = groups.map((group) => ({
      ...group,
      servers: group.servers.filter((server) => !looping.has(serverText(server))),
    }));
  };
  const probe = (): void => {
    for (const server of groups.flatMap((group) => group.servers)) {
      const found = (): void => {
        looping.add(serverText(server));
        choose();
        log.error('Forwarding loop detected, upstream server is no longer used', {
          server: serverText(server),
        });
      };
      void probeForLoop({ guard, clock, found }, server, signal);
    }
  };
  return {
    get: () => usable,
    loop: guard.handler,
    probe,
    set(after: readonly ServerGroup[]): void {
      groups = after;
      looping.clear();
      choose();
      probe();
    },
  };
}

function createStop() {
  let now = (): void => {};
  const requested = new Promise<void>((resolve) => {
    now = resolve;
  });
  return { now: () => now(), requested };
}

/** Stops taking queries and waits for deferred replies, for a limited time. */
async function drain(listening: Listening, answerer: Answerer, clock: Clock): Promise<void> {
  listening.pause();
  if (answerer.pending() === 0) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(drainMs, resolve);
    answerer.whenIdle(() => {
      cancel();
      clock.after(socketFlushMs, resolve);
    });
  });
}

function createQueryLog(answerer: Answerer, zone: Zone, { post, clock }: AnsweringDependencies) {
  let lines: string[] = [];
  let cancel: (() => void) | undefined;
  const flush = (): void => {
    cancel?.();
    cancel = undefined;
    if (lines.length > 0) post({ kind: 'answered', lines });
    lines = [];
  };
  const append = (answered: Answered): void => {
    const pod = isIP(answered.client) > 0 ? zone.podOf(answered.client) : undefined;
    lines.push(queryLine(answered, pod));
    if (lines.length >= linesPerMessage) flush();
    else cancel ??= clock.after(flushDelayMs, flush);
  };
  return {
    set(isOn: boolean): void {
      answerer.setListener(isOn ? append : undefined);
      if (!isOn) flush();
    },
  };
}

/** Marsaglia's xorshift: fast, and random enough to spread clients. */
function createRandom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

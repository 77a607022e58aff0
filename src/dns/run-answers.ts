// Puts the answering thread together: names, chain, listeners.
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
import { createAnswerCache } from './handlers/answer-cache.ts';
import { createLoopGuard } from './handlers/loop.ts';
import type { AnswerWorkerOptions, FromAnswerer, ToAnswerer } from './messages.ts';
import { createUpstreamMetrics } from './metrics.ts';
import { queryLine } from './query-log.ts';
import { createResponseCache, type ResponseCache } from './response-cache.ts';
import { type Listening, startListening } from './serve.ts';

export type AnsweringWorld = {
  readonly tell: (message: FromAnswerer) => void;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  /** For the order of addresses. */
  readonly seed: number;
};

export type Answering = {
  readonly receive: (message: ToAnswerer) => void;
  /** Resolves after the stop; rejects when an address cannot be had. */
  readonly ended: Promise<void>;
};

/** CoreDNS' capacity, and a bound on what strangers can fill it with. */
const cacheLimits = { entries: 9984, bytes: 16 * 1024 * 1024, staleSeconds: 3600 };
/** Kept encoded answers, some 300 bytes each: all names of 10,000 services that are asked for. */
const maxKept = 50_000;
/** Of the record with the version of the schema, unless answers may not live that long. */
const versionTtl = 28_800;
/** How long after the stop answers that are under way may take. */
const drainMs = 2000;
/** A packet that was given to a socket leaves it in one of the next turns of the loop. */
const lingerMs = 20;
/** Lines of the query log go to the other thread together. */
const logBatch = 100;
const logMs = 100;

export function startAnswering(options: AnswerWorkerOptions, world: AnsweringWorld): Answering {
  const zone = createZone();
  const counters = createCounters(options.counters);
  const ending = new AbortController();
  const state = { isSynced: false, serial: Math.floor(world.clock.now() / 1000) };
  const servers = createServers(options.groups, world, ending.signal);
  const kept = createResponseCache(maxKept);
  const { answerer, cacheSize } = assemble({
    options,
    world,
    zone,
    counters,
    state,
    servers,
    kept,
    signal: ending.signal,
  });
  const log = createQueryLog(answerer, zone, world);
  const stop = createStop();
  const count = (): void => {
    const { services, endpoints } = zone.size();
    const { success, denial } = cacheSize();
    counters.set('services', services);
    counters.set('endpoints', endpoints);
    counters.set('cacheEntriesSuccess', success);
    counters.set('cacheEntriesDenial', denial);
    counters.set('keptAnswers', kept.size());
  };
  const receive = (message: ToAnswerer): void => {
    switch (message.kind) {
      case 'changes':
        state.serial = message.serial;
        for (const change of message.changes) zone.apply(change);
        return;
      case 'synced':
        // Now, when nobody counts on an answer yet: what the first state left behind.
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
        world.tell({ kind: 'metrics', id: message.id, text: world.metrics.text() });
        return;
      case 'stop':
        stop.now();
    }
  };
  const run = async (): Promise<void> => {
    const listening = await startListening({ options, answerer, counters, now });
    const { addresses, inBatches } = listening;
    world.tell({ kind: 'listening', addresses, inBatches });
    servers.probe();
    await stop.asked;
    await drain(listening, answerer, world.clock);
    ending.abort();
    log.set(false);
    await listening.close();
    world.tell({ kind: 'stopped' });
  };
  return { receive, ended: run() };
}

const now = (): number => performance.now();

type Assembly = {
  readonly options: AnswerWorkerOptions;
  readonly world: AnsweringWorld;
  readonly zone: Zone;
  readonly counters: Counters;
  readonly state: { readonly isSynced: boolean; readonly serial: number };
  readonly servers: ReturnType<typeof createServers>;
  readonly kept: ResponseCache;
  readonly signal: AbortSignal;
};

function assemble(parts: Assembly) {
  const { options, world, zone, counters, state, servers, kept, signal } = parts;
  const { clock, log } = world;
  const maxTtl = options.cacheSeconds > 0 ? options.cacheSeconds : versionTtl;
  const entries = options.cacheSeconds > 0 ? cacheLimits.entries : 0;
  const cache = createAnswerCache({ ...cacheLimits, entries });
  const { autopath, allow } = options;
  const cidrs = allow?.flatMap((text) => parseCidr(text) ?? []);
  const metrics = createUpstreamMetrics(world.metrics);
  const upstream = createUpstream(
    { groups: servers.get, cache, maxTtl, clock, log, counters, metrics },
    signal,
  );
  const chain = createChain({
    zone,
    cluster: { ...options, versionTtl: Math.min(versionTtl, maxTtl) },
    isSynced: () => state.isSynced,
    serial: () => state.serial,
    keep: kept.set,
    loop: servers.loop,
    cache,
    upstream,
    now: clock.now,
    ...(autopath === undefined ? {} : { autopath: { ...autopath, domain: options.domain } }),
    ...(cidrs === undefined ? {} : { allow: cidrs }),
  });
  const broke = (error: unknown): void => {
    counters.add('panics');
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('cannot answer a question', { error: reason });
  };
  const random = createRandom(world.seed);
  const recurses = (): boolean => servers.get().length > 0;
  const answerer = createAnswerer({ chain, kept, counters, recurses, random, now, broke });
  return { answerer, cacheSize: cache.size };
}

/** Upstream servers as they are now, without those that lead back here. */
function createServers(
  first: readonly ServerGroup[],
  { log, clock }: AnsweringWorld,
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
        log.error('upstream server asks us back, it is not asked any more', {
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
  const asked = new Promise<void>((resolve) => {
    now = resolve;
  });
  return { now: () => now(), asked };
}

/** No new questions; a moment for those that wait for others. */
async function drain(listening: Listening, answerer: Answerer, clock: Clock): Promise<void> {
  listening.pause();
  if (answerer.pending() === 0) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(drainMs, resolve);
    answerer.whenIdle(() => {
      cancel();
      clock.after(lingerMs, resolve);
    });
  });
}

function createQueryLog(answerer: Answerer, zone: Zone, { tell, clock }: AnsweringWorld) {
  let lines: string[] = [];
  let cancel: (() => void) | undefined;
  const flush = (): void => {
    cancel?.();
    cancel = undefined;
    if (lines.length > 0) tell({ kind: 'answered', lines });
    lines = [];
  };
  const note = (answered: Answered): void => {
    const pod = isIP(answered.client) > 0 ? zone.podOf(answered.client) : undefined;
    lines.push(queryLine(answered, pod));
    if (lines.length >= logBatch) flush();
    else cancel ??= clock.after(logMs, flush);
  };
  return {
    set(isOn: boolean): void {
      answerer.setListener(isOn ? note : undefined);
      if (!isOn) flush();
    },
  };
}

/** Marsaglia's xorshift: quick, and good enough to spread clients. */
function createRandom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

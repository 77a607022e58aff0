// Forwards names outside of the cluster to upstream servers, with retries, and caches the answers.
import { setMaxListeners } from 'node:events';
import { type Clock, sleep } from '../../host/clock.ts';
import type { Log } from '../../observe/log.ts';
import { createClientShares } from '../client-shares.ts';
import type { Counters } from '../counters.ts';
import type { UpstreamCache } from '../handlers/upstream-cache.ts';
import type { UpstreamMetrics } from '../metrics.ts';
import type { Upstream } from '../parts.ts';
import type { Found, Question } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import type { UpstreamQuestion } from '../wire/encode-query.ts';
import { rootName } from '../wire/names.ts';
import { isFailure, type Message } from '../wire/read-message.ts';
import { flags, rcodes, types } from '../wire/record-types.ts';
import { type Exchange, exchangeTcp, exchangeUdp } from './send-query.ts';
import {
  createServerHealth,
  groupFor,
  type ServerAddress,
  type ServerGroup,
  type ServerHealth,
  serverText,
} from './upstream-servers.ts';

export type UpstreamOptions = {
  readonly groups: () => readonly ServerGroup[];
  readonly cache: UpstreamCache;
  /** The maximum TTL: a change is visible within this time. */
  readonly maxTtl: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  readonly metrics: UpstreamMetrics;
  readonly random?: () => number;
};

/** `max_concurrent` of CoreDNS in a kubeadm cluster: further queries are refused, not queued; one client gets at most a fifth. */
const maxConcurrent = 1000;
/** Resolvers retry after this time: a later answer is useless. */
const deadlineMs = 5000;
const attemptMs = 1500;
const minAttempts = 3;
/** RFC 8767: after this time an expired answer is better than a late one. */
const staleAnswerAfterMs = 1800;
/** How often a server that is down is probed. */
const probeMs = 500;

export function createUpstream(options: UpstreamOptions, signal: AbortSignal): Upstream {
  setMaxListeners(0, signal);
  const { cache, clock, counters, random = Math.random } = options;
  const health = createServerHealth(random);
  const running = new Map<string, Promise<Message | undefined>>();
  const shares = createClientShares(maxConcurrent);
  const ask = (question: Question): Promise<Message | undefined> => {
    const key = `${question.name}${question.type} ${question.dnssecOk} ${question.checkingDisabled}`;
    const same = running.get(key);
    if (same !== undefined) return same;
    const { client } = question;
    shares.begin(client);
    const response = resolve(question, options, health, signal)
      .then((message) => {
        if (message !== undefined && !isFailure(message) && !isTruncated(message)) {
          cache.set(question, message, clock.now());
        }
        return message;
      })
      .finally(() => {
        shares.end(client);
        running.delete(key);
      });
    running.set(key, response);
    return response;
  };
  const staleAnswer = (question: Question): Found => {
    const stale = cache.getStale(question, clock.now());
    if (stale !== undefined) counters.add('cacheStale');
    return stale;
  };
  return {
    async answer(question) {
      if (groupFor(options.groups(), question.name) === undefined) {
        return emptyAnswer(rcodes.REFUSED);
      }
      if (!shares.mayBegin(question.client)) {
        counters.add('maxConcurrentRejects');
        return staleAnswer(question) ?? emptyAnswer(rcodes.REFUSED);
      }
      const hasStale = cache.getStale(question, clock.now()) !== undefined;
      const response = ask(question);
      const message = hasStale ? await withTimeout(response, clock) : await response;
      if (message === undefined || isFailure(message)) {
        return staleAnswer(question) ?? message?.answer ?? emptyAnswer(rcodes.SERVFAIL);
      }
      return question.dnssecOk ? message.answer : withoutAuthenticData(message);
    },
    refresh(question) {
      if (!shares.mayBegin(question.client)) return;
      counters.add('cachePrefetch');
      ask(question).catch((error: unknown) =>
        options.log.warn('Failed to prefetch', { error: String(error) }),
      );
    },
  };
}

function isTruncated(message: Message): boolean {
  return (message.flags & flags.truncated) !== 0;
}

/** The AD flag is only for clients that set the DO bit. */
function withoutAuthenticData({ answer }: Message): Found {
  return { ...answer, flags: answer.flags & ~flags.authenticData };
}

async function withTimeout(
  response: Promise<Message | undefined>,
  clock: Clock,
): Promise<Message | undefined> {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolvePromise) => {
    cancel = clock.after(staleAnswerAfterMs, () => resolvePromise(undefined));
  });
  return Promise.race([response, late]).finally(() => cancel());
}

/** Undefined when no server answered. */
async function resolve(
  question: Question,
  options: UpstreamOptions,
  health: ServerHealth,
  signal: AbortSignal,
): Promise<Message | undefined> {
  const { clock } = options;
  const servers = health.order(groupFor(options.groups(), question.name)?.servers ?? []);
  if (servers.length > 0 && servers.every(health.isDown)) options.counters.add('healthcheckBroken');
  const end = clock.now() + deadlineMs;
  const attempts = Math.max(minAttempts, servers.length);
  let last: Message | undefined;
  for (let attempt = 0; attempt < attempts && !signal.aborted; attempt += 1) {
    const server = servers[attempt % servers.length];
    const remainingMs = end - clock.now();
    if (server === undefined || remainingMs <= 0) break;
    const exchange = { server, question, timeoutMs: Math.min(attemptMs, remainingMs) };
    const message = await tryServer({ ...options, ...exchange, signal }, options, health);
    last = message ?? last;
    // After a failure (SERVFAIL, REFUSED) try the next server.
    if (message !== undefined && (!isFailure(message) || attempt + 1 >= servers.length)) {
      return message;
    }
  }
  return last;
}

async function tryServer(
  exchange: Exchange,
  options: UpstreamOptions,
  health: ServerHealth,
): Promise<Message | undefined> {
  const { server, clock, signal } = exchange;
  const started = clock.now();
  try {
    const overUdp = await exchangeUdp(exchange);
    // Whatever the reason that TCP failed, the truncated answer is better than none.
    const message = isTruncated(overUdp)
      ? await exchangeTcp(exchange).catch(() => overUdp)
      : overUdp;
    health.worked(server);
    options.metrics.answered(server, message.rcode, clock.now() - started);
    return message;
  } catch (error) {
    if (signal.aborted) return undefined;
    options.metrics.failed(server);
    if (health.failed(server)) {
      const reason = error instanceof Error ? error.message : String(error);
      options.log.warn('Upstream server is down', { server: serverText(server), reason });
      void probe(server, options, health, signal);
    }
    return undefined;
  }
}

const probeQuestion: UpstreamQuestion = {
  name: rootName,
  type: types.NS,
  dnssecOk: false,
  checkingDisabled: false,
};

/** Probes the server until it answers, with any rcode. */
async function probe(
  server: ServerAddress,
  options: UpstreamOptions,
  health: ServerHealth,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = options;
  while (!signal.aborted && health.isDown(server)) {
    await sleep(clock, probeMs, signal);
    const exchange = { ...options, server, question: probeQuestion, timeoutMs: probeMs, signal };
    const answered = await exchangeUdp(exchange).then(
      () => true,
      () => false,
    );
    if (answered) {
      health.worked(server);
      options.log.info('Upstream server is up again', { server: serverText(server) });
    } else options.metrics.checkFailed(server);
  }
}

// Follows a propagation: reads it again and again, survives restarts of the server, and ends when the Service is deleted.
import type { ApiCaller } from '../client/api-call.ts';
import { backOffMs } from '../client/back-off.ts';
import { type Clock, sleep } from '../host/clock.ts';
import { isApiError } from '../meta/api-error.ts';
import { changeOf, comparePropagations } from './compare-propagations.ts';
import { withExpectedParts } from './expected-parts.ts';
import { pauseAfter } from './pace.ts';
import type { Propagation, PropagationChange } from './propagation.ts';
import { isServiceMissing, readPropagation, type ServiceName } from './read-propagation.ts';

export type PropagationUpdate = {
  /** The latest that is known. */
  readonly state: Propagation;
  /** Empty for the first. */
  readonly changes: readonly PropagationChange[];
};

export type WatchPropagation = {
  readonly caller: ApiCaller;
  readonly service: ServiceName;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
};

/** Of a server that does not answer. */
const retry = { firstMs: 500, maxMs: 10_000 };

/** After the first answer, whose errors are thrown, errors that pass are changes. */
export async function* watchPropagation(
  options: WatchPropagation,
): AsyncGenerator<PropagationUpdate, void, undefined> {
  const { caller, service, clock, random, signal } = options;
  const startedAt = clock.now();
  const first = await readPropagation(caller, service, signal);
  let latest: Latest = { state: first, tookMs: clock.now() - startedAt, failures: 0 };
  yield { state: first, changes: [] };
  for (;;) {
    const { failures, state, tookMs } = latest;
    const pauseMs =
      failures > 0
        ? backOffMs(retry, failures - 1, random())
        : pauseAfter({ state: state.state, tookMs });
    await sleep(clock, pauseMs, signal);
    if (signal.aborted) return;
    const begin = clock.now();
    const found = await tryRead(options);
    if (found === undefined) return;
    if (found === 'deleted') {
      return yield { state, changes: [changeOf('ServiceDeleted', state)] };
    }
    const next = follow(latest, found, begin);
    latest = { ...next.latest, tookMs: clock.now() - begin };
    yield { state: latest.state, changes: next.changes };
  }
}

type Latest = {
  readonly state: Propagation;
  readonly tookMs: number;
  readonly failures: number;
  /** When the server answered again after it had been lost. */
  readonly foundAt?: number;
};

type Failure = { readonly reason: string };

function follow(before: Latest, found: Propagation | Failure, now: number) {
  const { state, failures } = before;
  if ('reason' in found) {
    const changes = failures > 0 ? [] : [changeOf('ServerLost', state, found)];
    return { latest: { ...before, failures: failures + 1 }, changes };
  }
  const foundAt = failures > 0 ? now : before.foundAt;
  const after = withExpectedParts(state, found, foundAt === undefined ? undefined : now - foundAt);
  const changes = [
    ...(failures > 0 ? [changeOf('ServerFound', after)] : []),
    ...comparePropagations(state, after),
  ];
  const latest = {
    ...before,
    state: after,
    failures: 0,
    ...(foundAt === undefined ? {} : { foundAt }),
  };
  return { latest, changes };
}

/** Undefined at the end. Errors that do not pass are thrown. */
async function tryRead({
  caller,
  service,
  signal,
}: WatchPropagation): Promise<Propagation | 'deleted' | Failure | undefined> {
  try {
    return await readPropagation(caller, service, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (isServiceMissing(error)) return 'deleted';
    if (isApiError(error) && !isPassing(error.status.code ?? 0)) throw error;
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}

const isPassing = (code: number): boolean => code === 429 || code >= 500;

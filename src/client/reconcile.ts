// Keys in, work done: takes keys from a queue, reconciles each, and tries again what failed.
import type { Clock } from '../host/clock.ts';
import { isApiError, isConflict } from '../meta/api-error.ts';
import { beginWork, endWork, type WorkDescription } from '../observe/current-work.ts';
import type { Log } from '../observe/log.ts';
import type { BackOffLimits } from './back-off.ts';
import type { QueueMetrics, QueueObserver } from './queue-metrics.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/**
 * Nothing: done. `retryAfterMs`: come back at that time, which is no failure. `again`: there may be more to do already; the key
 * comes back soon, and later each time in a row. There is no way to come back at once: what waits for others would go round
 * without end.
 */
export type ReconcileResult = { readonly retryAfterMs: number } | { readonly again: true };

/** A time that has come already, or a calculation that ends in 0, waits this long all the same. */
const minRetryMs = 10;

/** Makes the world fit the key from full state; throwing means to try again. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>;

/** Trying again cannot help: it is logged and dropped until the key is added anew. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

export type ReconcilerOptions = {
  /** Names the work in logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly log: Log;
  /** Keys worked on at a time. */
  readonly concurrency?: number;
  readonly backOff?: BackOffLimits;
  /** After so many retries in a row the key is dropped until it is added anew; absent: never. */
  readonly maxRetries?: number;
  /** Where the queue counts; absent: nowhere. */
  readonly metrics?: QueueMetrics;
};

export type Reconciler = {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  /** Resolves when the signal has ended it and the work under way is finished. */
  readonly ended: Promise<void>;
};

export function startReconciler(options: ReconcilerOptions, signal: AbortSignal): Reconciler {
  const { clock, backOff, concurrency = 1 } = options;
  const observer = options.metrics?.of(options.name);
  const queue = createWorkQueue({
    clock,
    ...(backOff === undefined ? {} : { backOff }),
    ...(observer === undefined ? {} : { observer }),
  });
  if (signal.aborted) queue.end();
  signal.addEventListener('abort', queue.end, { once: true });
  const workers = Array.from({ length: concurrency }, () =>
    work({ ...options, observer }, queue, signal),
  );
  return { queue, ended: Promise.all(workers).then(() => undefined) };
}

async function work(
  options: ReconcilerOptions & { readonly observer: QueueObserver | undefined },
  queue: WorkQueue,
  signal: AbortSignal,
): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    const ended = options.observer?.started();
    const current: Reconciling = { reconciler: options.name, key };
    const begun = beginWork(current, describeReconciling);
    try {
      const result = await options.reconcile(key, signal);
      comeBack(queue, key, result);
    } catch (error) {
      if (!signal.aborted) handleFailure(options, queue, key, error);
    } finally {
      endWork(begun);
      ended?.();
      queue.done(key);
    }
  }
}

function comeBack(queue: WorkQueue, key: string, result: ReconcileResult | undefined): void {
  if (result !== undefined && 'again' in result) {
    queue.retry(key);
    return;
  }
  queue.forget(key);
  if (result !== undefined) queue.addAfter(key, Math.max(result.retryAfterMs, minRetryMs));
}

type Reconciling = { readonly reconciler: string; readonly key: string };

function describeReconciling({ reconciler, key }: Reconciling): WorkDescription {
  return { kind: 'reconcile', reconciler, key };
}

/** Something is awaited that has not come yet: worth another look, and one word to people however often. */
export class NotYetError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotYetError';
  }
}

/** Failures this often in a row are worth a person's look; before that they tend to heal. */
const quietRetries = 5;

function handleFailure(
  { name, log, maxRetries = Number.POSITIVE_INFINITY }: ReconcilerOptions,
  queue: WorkQueue,
  key: string,
  error: unknown,
): void {
  const retries = queue.retries(key);
  const fields = { reconciler: name, key, retries, error: describe(error) };
  if (error instanceof TerminalError || retries >= maxRetries) {
    const isAwaited = error instanceof NotYetError;
    log[isAwaited ? 'debug' : 'error']('reconcile failed, will not retry', fields);
    queue.forget(key);
    return;
  }
  log[retryLevel(error, retries)](retryMessage(error, retries), fields);
  queue.retry(key);
}

function retryLevel(error: unknown, retries: number): 'debug' | 'info' | 'warn' {
  if (error instanceof NotYetError) return retries === 0 ? 'info' : 'debug';
  return isConflict(error) || retries < quietRetries ? 'debug' : 'warn';
}

function retryMessage(error: unknown, retries: number): string {
  return retryLevel(error, retries) === 'warn'
    ? 'reconcile keeps failing, will retry'
    : 'reconcile failed, will retry';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A TypeError and its like are mistakes of ours: only the stack leads to them.
  const isOurs =
    error.constructor !== Error &&
    !isApiError(error) &&
    !(error instanceof TerminalError) &&
    !(error instanceof NotYetError);
  return isOurs ? (error.stack ?? error.message) : error.message;
}

// Runs a reconciler: takes keys from a work queue, reconciles each, and retries failures with back-off.
import type { Clock } from '../host/clock.ts';
import { isApiError, isConflict } from '../meta/api-error.ts';
import { beginWork, endWork, type WorkDescription } from '../observe/current-work.ts';
import type { Log } from '../observe/log.ts';
import type { BackOffLimits } from './back-off.ts';
import type { QueueMetrics, QueueObserver } from './queue-metrics.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/**
 * Undefined: done. `retryAfterMs`: reconcile again after that time; this is no failure. `again`: there may be more to do; the key
 * is requeued with back-off. A key is never requeued without a wait: a reconciler that waits for others would loop without end.
 */
export type ReconcileResult = { readonly retryAfterMs: number } | { readonly again: true };

/** Applies when `retryAfterMs` is computed to be 0 or has already passed. */
const minRetryMs = 10;

/** Brings the actual state of the key to the desired state. Throwing means retry. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>;

/** Retrying cannot help: the error is logged, and the key is dropped until it is added again. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

export type ReconcilerOptions = {
  /** The name in logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of workers. */
  readonly concurrency?: number;
  readonly backOff?: BackOffLimits;
  /** Keys with a higher number are reconciled first; absent: all are alike. */
  readonly priorityOf?: (key: string) => number;
  /** After this many retries in a row the key is dropped until it is added again; absent: never. */
  readonly maxRetries?: number;
  /** Absent: the queue is not measured. */
  readonly metrics?: QueueMetrics;
};

export type Reconciler = {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  /** Resolves when the signal is aborted and the workers have finished. */
  readonly ended: Promise<void>;
};

export function startReconciler(options: ReconcilerOptions, signal: AbortSignal): Reconciler {
  const { clock, backOff, priorityOf, concurrency = 1 } = options;
  const observer = options.metrics?.of(options.name);
  const queue = createWorkQueue({
    clock,
    ...(backOff === undefined ? {} : { backOff }),
    ...(priorityOf === undefined ? {} : { priorityOf }),
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
      requeue(queue, key, result);
    } catch (error) {
      if (!signal.aborted) handleFailure(options, queue, key, error);
    } finally {
      endWork(begun);
      ended?.();
      queue.done(key);
    }
  }
}

function requeue(queue: WorkQueue, key: string, result: ReconcileResult | undefined): void {
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

/** A prerequisite does not exist yet: retried, and logged at info once, then at debug. */
export class NotYetError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NotYetError';
  }
}

/** Up to this many failures in a row are logged at debug, as most heal themselves. */
const retriesBeforeWarning = 5;

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
    log[isAwaited ? 'debug' : 'error']('Reconcile failed, giving up', fields);
    queue.forget(key);
    return;
  }
  log[retryLevel(error, retries)](retryMessage(error, retries), fields);
  queue.retry(key);
}

function retryLevel(error: unknown, retries: number): 'debug' | 'info' | 'warn' {
  if (error instanceof NotYetError) return retries === 0 ? 'info' : 'debug';
  return isConflict(error) || retries < retriesBeforeWarning ? 'debug' : 'warn';
}

function retryMessage(error: unknown, retries: number): string {
  return retryLevel(error, retries) === 'warn'
    ? 'Reconcile keeps failing, retrying'
    : 'Reconcile failed, retrying';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A TypeError and the like are bugs: log their stack.
  const isOurs =
    error.constructor !== Error &&
    !isApiError(error) &&
    !(error instanceof TerminalError) &&
    !(error instanceof NotYetError);
  return isOurs ? (error.stack ?? error.message) : error.message;
}

// Syncs one Service with its load balancer.
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { ReconcileResult } from '../../client/reconcile.ts';
import type { Clock } from '../../host/clock.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import type { Log } from '../../observe/log.ts';
import { formatTime } from '../../schema/time.ts';
import {
  ImplementedElsewhereError,
  type Owner,
  type Provider,
  RetryLaterError,
  UnmetRequestError,
} from '../provider.ts';
import type { ServiceWriter } from './apply.ts';
import { candidateNodes, hostsKey } from './candidate-nodes.ts';
import { isOfOthers, nextStep } from './desired.ts';
import type { ServiceControllerMetrics } from './metrics.ts';
import { droppedConditions, solvedConditions } from './status.ts';

export type SyncParts = {
  readonly provider: Provider;
  readonly writer: ServiceWriter;
  readonly recorder: EventRecorder;
  /** The Service as last observed. */
  readonly find: (key: string) => Service | undefined;
  readonly nodes: () => readonly Node[];
  readonly memory: SyncMemory;
  readonly metrics: ServiceControllerMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly ownClass?: string;
};

/** In-memory state. It may be lost: it saves work, and covers cases that finalizers do not. */
export type SyncMemory = {
  /** Keys that need more than an update of their hosts. */
  readonly whole: Set<string>;
  /** Keys whose request could not be met. */
  readonly unmet: Set<string>;
  /** The Service that may have a load balancer. */
  readonly served: Map<string, Service>;
  /** The hosts of the last update of the load balancer. */
  readonly hosts: Map<string, string>;
  /** The result of our own last write, until the informer observes it. */
  readonly written: Map<string, Service>;
  /** The ignored annotations that were reported for a Service. */
  readonly reportedAnnotations: Map<string, string>;
};

export const createSyncMemory = (): SyncMemory => ({
  whole: new Set(),
  unmet: new Set(),
  served: new Map(),
  hosts: new Map(),
  written: new Map(),
  reportedAnnotations: new Map(),
});

/** The failed step; upstream's event reasons. */
class StepError extends Error {
  constructor(step: string, cause: unknown) {
    super(`${step}: ${textOf(cause)}`, { cause });
    this.name = 'StepError';
  }
}

export async function syncService(
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { memory, find, ownClass } = parts;
  // Removed before the first await: changes made meanwhile cause another sync.
  const isRequested = memory.whole.delete(key);
  const service = find(key);
  const before = memory.served.get(key);
  // Replaced by another Service of the same name, or now handled by another controller.
  const isLost =
    before !== undefined &&
    (service === undefined ||
      before.metadata.uid !== service.metadata.uid ||
      isOfOthers(service, ownClass));
  if (isLost) await removeLost(parts, key, before, signal);
  if (service === undefined) return forget(memory, key);
  const wanted = nextStep(service, ownClass);
  // Its finalizer was removed by another client, but there may still be a load balancer.
  const step = wanted === 'nothing' && memory.served.has(key) ? 'remove' : wanted;
  if (step === 'nothing') return forget(memory, key);
  if (step === 'ensure' && !isRequested && !isLost) return updateHosts(parts, key, service, signal);
  try {
    await (step === 'ensure' ? ensure : remove)(parts, key, service, signal);
    return undefined;
  } catch (error) {
    memory.whole.add(key);
    if (signal.aborted) throw error;
    return explainFailure(parts, key, error);
  }
}

/** Keeps what was requested meanwhile. */
function forget(memory: SyncMemory, key: string): undefined {
  memory.unmet.delete(key);
  for (const known of [memory.hosts, memory.written, memory.served, memory.reportedAnnotations])
    known.delete(key);
}

/** Finalizer, then load balancer, then status (LBC-03). */
async function ensure(
  parts: SyncParts,
  key: string,
  found: Service,
  signal: AbortSignal,
): Promise<void> {
  const { provider, writer, recorder, memory, metrics, clock } = parts;
  recordEvent(recorder, found, 'EnsuringLoadBalancer', 'Ensuring load balancer');
  const service = await during(
    'failed to add load balancer cleanup finalizer',
    writer.addFinalizer(found),
  );
  // Deleted before anything was created.
  if (service === undefined) return;
  remember(memory, key, service);
  memory.served.set(key, service);
  warnOfIgnored(parts, key, service);
  const all = parts.nodes();
  const nodes = candidateNodes(all);
  if (nodes.length === 0) warnOfNoNodes(recorder, service);
  memory.hosts.set(key, hostsKey(all));
  metrics.syncs.add();
  try {
    const step = 'failed to ensure load balancer';
    const ingress = await during(step, provider.ensure({ service, nodes }, signal));
    recordEvent(recorder, service, 'EnsuredLoadBalancer', 'Ensured load balancer');
    const solved = solvedConditions(service, formatTime(clock.now()));
    const published = writer.publish(service, ingress, solved);
    remember(memory, key, await during('failed to update load balancer status', published));
    memory.unmet.delete(key);
  } catch (error) {
    if (!isElsewhere(error)) throw error;
    parts.log.debug('Load balancer is handled by another controller', { service: key });
  }
}

/** Load balancer, then finalizer, then status (LBC-04, LBC-05). */
async function remove(
  parts: SyncParts,
  key: string,
  service: Service,
  signal: AbortSignal,
): Promise<void> {
  const { provider, writer, recorder, memory } = parts;
  const owner = ownerOf(service);
  const exists = await during(
    'failed to check if load balancer exists before cleanup',
    provider.exists(owner, service, signal),
  );
  if (exists) {
    recordEvent(recorder, service, 'DeletingLoadBalancer', 'Deleting load balancer');
    await during(
      'failed to delete load balancer',
      provider.remove(owner, service, signal).catch((error: unknown) => {
        if (!(error instanceof ImplementedElsewhereError)) throw error;
      }),
    );
  }
  memory.served.delete(key);
  const after = await during(
    'failed to remove load balancer cleanup finalizer',
    writer.removeFinalizer(service),
  );
  recordEvent(recorder, service, 'DeletedLoadBalancer', 'Deleted load balancer');
  forget(memory, key);
  if (after === undefined || after.metadata.deletionTimestamp !== undefined) return;
  remember(memory, key, after);
  const emptied = writer.publish(after, [], droppedConditions(after));
  remember(memory, key, await during('failed to update load balancer status', emptied));
}

/** Deletes the load balancer of a Service that was deleted without its finalizer (LBC-06). */
async function removeLost(
  { provider, recorder, memory }: SyncParts,
  key: string,
  before: Service,
  signal: AbortSignal,
): Promise<void> {
  recordEvent(recorder, before, 'DeletingLoadBalancer', 'Deleting load balancer');
  try {
    await provider.remove(ownerOf(before), before, signal);
  } catch (error) {
    if (!(error instanceof ImplementedElsewhereError)) {
      memory.whole.add(key);
      const message = `Error deleting load balancer: ${textOf(error)}`;
      recorder.record(before, { type: 'Warning', reason: 'DeleteLoadBalancerFailed', message });
      throw error;
    }
  }
  forget(memory, key);
  recordEvent(recorder, before, 'DeletedLoadBalancer', 'Deleted load balancer');
}

/** Only the nodes changed (LBC-13). After a failure the next sync ensures the whole load balancer. */
async function updateHosts(
  parts: SyncParts,
  key: string,
  service: Service,
  signal: AbortSignal,
): Promise<undefined> {
  const { provider, recorder, memory, metrics, clock } = parts;
  const all = parts.nodes();
  const wanted = hostsKey(all);
  if (!memory.hosts.has(key) || memory.hosts.get(key) === wanted) return;
  memory.hosts.set(key, wanted);
  const nodes = candidateNodes(all);
  const startedAt = clock.now();
  metrics.syncs.add();
  try {
    await provider.updateHosts({ service, nodes }, signal);
    if (nodes.length === 0) warnOfNoNodes(recorder, service);
    else
      recordEvent(recorder, service, 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  } catch (error) {
    if (isElsewhere(error)) return;
    memory.whole.add(key);
    metrics.nodeSyncErrors.add();
    // A failure only if there is a load balancer that could not be updated.
    if (!(await provider.exists(ownerOf(service), service, signal).catch(() => true))) throw error;
    const message = `Error updating load balancer with new hosts ${hostNames(nodes)}, error: ${textOf(error)}`;
    recorder.record(service, { type: 'Warning', reason: 'UpdateLoadBalancerFailed', message });
    throw error;
  } finally {
    metrics.hostUpdateLatency.observe({}, (clock.now() - startedAt) / 1000);
  }
}

/** Reports the failure in an event and in the Service's condition, and schedules the retry. */
async function explainFailure(
  { recorder, writer, memory, find, clock, log }: SyncParts,
  key: string,
  error: unknown,
): Promise<ReconcileResult> {
  const service = find(key);
  const cause = error instanceof StepError ? error.cause : error;
  if (cause instanceof UnmetRequestError) memory.unmet.add(key);
  if (service !== undefined) {
    const message = `Error syncing load balancer: ${textOf(error)}`;
    recorder.record(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message });
    const why = { reason: reasonOf(cause), message: textOf(cause), time: formatTime(clock.now()) };
    try {
      remember(memory, key, await writer.explain(service, why));
    } catch (failure) {
      log.debug('Failed to write condition', { service: key, error: textOf(failure) });
    }
  }
  if (cause instanceof RetryLaterError) return { retryAfterMs: cause.retryAfterMs };
  throw error;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof UnmetRequestError) return cause.reason;
  return cause instanceof RetryLaterError ? 'InProgress' : 'SyncFailed';
}

async function during<T>(step: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new StepError(step, error);
  }
}

const isElsewhere = (error: unknown): boolean =>
  (error instanceof StepError ? error.cause : error) instanceof ImplementedElsewhereError;

function remember({ written }: SyncMemory, key: string, service: Service | undefined): void {
  if (service !== undefined) written.set(key, service);
}

function recordEvent(
  recorder: EventRecorder,
  service: Service,
  reason: string,
  message: string,
): void {
  recorder.record(service, { type: 'Normal', reason, message });
}

/** The maximum number of annotations in a message. */
const maxShownAnnotations = 10;

/** Reports once, and again when the annotations change. */
function warnOfIgnored(
  { provider, recorder, memory }: SyncParts,
  key: string,
  service: Service,
): void {
  const names = provider.ignored?.(service) ?? [];
  const all = `${service.metadata.uid} ${names.join()}`;
  if (memory.reportedAnnotations.get(key) === all) return;
  memory.reportedAnnotations.set(key, all);
  if (names.length === 0) return;
  const shown = names.slice(0, maxShownAnnotations).join(', ');
  const more =
    names.length > maxShownAnnotations ? ` and ${names.length - maxShownAnnotations} more` : '';
  const message = `Provider ${provider.name} ignores annotations: ${shown}${more}`;
  recorder.record(service, { type: 'Warning', reason: 'IgnoredAnnotations', message });
}

function warnOfNoNodes(recorder: EventRecorder, service: Service): void {
  const message = 'There are no available nodes for LoadBalancer';
  recorder.record(service, { type: 'Warning', reason: 'UnAvailableLoadBalancer', message });
}

/** As upstream: the maximum number of hosts in a message. */
const maxNames = 20;

function hostNames(nodes: readonly Node[]): string {
  const names = nodes.slice(0, maxNames).map(({ metadata }) => metadata.name ?? '');
  return `[${names.join(' ')}] [node names limited, total number of nodes: ${nodes.length}]`;
}

const ownerOf = ({ metadata }: Service): Owner => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// One Service brought in line with its balancer.
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
  /** The Service as the API has it now, as far as is known. */
  readonly find: (key: string) => Service | undefined;
  readonly nodes: () => readonly Node[];
  readonly memory: SyncMemory;
  readonly metrics: ServiceControllerMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly ownClass?: string;
};

/** What is known beyond the API. All of it may be lost: it saves work and catches what finalizers cannot. */
export type SyncMemory = {
  /** Keys that need more than new hosts. */
  readonly whole: Set<string>;
  /** Keys whose wish was not met. */
  readonly unmet: Set<string>;
  /** The Service for which there may be a balancer. */
  readonly served: Map<string, Service>;
  /** The hosts that its balancer was last told. */
  readonly hosts: Map<string, string>;
  /** What our own last write left, until the informer has it. */
  readonly written: Map<string, Service>;
  /** The ignored annotations that were told of a Service. */
  readonly told: Map<string, string>;
};

export const createSyncMemory = (): SyncMemory => ({
  whole: new Set(),
  unmet: new Set(),
  served: new Map(),
  hosts: new Map(),
  written: new Map(),
  told: new Map(),
});

/** In which step something failed; upstream's words. */
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
  // Taken before anything is waited for: what changes meanwhile asks for another round.
  const isAsked = memory.whole.delete(key);
  const service = find(key);
  const before = memory.served.get(key);
  // Another Service of the name, or one that another controller looks after by now.
  const isLost =
    before !== undefined &&
    (service === undefined ||
      before.metadata.uid !== service.metadata.uid ||
      isOfOthers(service, ownClass));
  if (isLost) await removeLost(parts, key, before, signal);
  if (service === undefined) return forget(memory, key);
  const wanted = nextStep(service, ownClass);
  // Without its finalizer, which somebody took away, and yet there may be a balancer.
  const step = wanted === 'nothing' && memory.served.has(key) ? 'remove' : wanted;
  if (step === 'nothing') return forget(memory, key);
  if (step === 'ensure' && !isAsked && !isLost) return updateHosts(parts, key, service, signal);
  try {
    await (step === 'ensure' ? ensure : remove)(parts, key, service, signal);
    return undefined;
  } catch (error) {
    memory.whole.add(key);
    if (signal.aborted) throw error;
    return explainFailure(parts, key, error);
  }
}

/** But not what was asked for meanwhile. */
function forget(memory: SyncMemory, key: string): undefined {
  memory.unmet.delete(key);
  for (const known of [memory.hosts, memory.written, memory.served, memory.told]) known.delete(key);
}

/** LBC-03: the finalizer, then the balancer, then the status. */
async function ensure(
  parts: SyncParts,
  key: string,
  found: Service,
  signal: AbortSignal,
): Promise<void> {
  const { provider, writer, recorder, memory, metrics, clock } = parts;
  tell(recorder, found, 'EnsuringLoadBalancer', 'Ensuring load balancer');
  const service = await during(
    'failed to add load balancer cleanup finalizer',
    writer.addFinalizer(found),
  );
  // Gone before anything was made.
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
    tell(recorder, service, 'EnsuredLoadBalancer', 'Ensured load balancer');
    const solved = solvedConditions(service, formatTime(clock.now()));
    const published = writer.publish(service, ingress, solved);
    remember(memory, key, await during('failed to update load balancer status', published));
    memory.unmet.delete(key);
  } catch (error) {
    if (!isElsewhere(error)) throw error;
    parts.log.debug('balancer is looked after by another program', { service: key });
  }
}

/** LBC-04, LBC-05: the balancer, then the finalizer, then the status. */
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
    tell(recorder, service, 'DeletingLoadBalancer', 'Deleting load balancer');
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
  tell(recorder, service, 'DeletedLoadBalancer', 'Deleted load balancer');
  forget(memory, key);
  if (after === undefined || after.metadata.deletionTimestamp !== undefined) return;
  remember(memory, key, after);
  const emptied = writer.publish(after, [], droppedConditions(after));
  remember(memory, key, await during('failed to update load balancer status', emptied));
}

/** LBC-06: a Service that went without its finalizer took nothing with it. */
async function removeLost(
  { provider, recorder, memory }: SyncParts,
  key: string,
  before: Service,
  signal: AbortSignal,
): Promise<void> {
  tell(recorder, before, 'DeletingLoadBalancer', 'Deleting load balancer');
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
  tell(recorder, before, 'DeletedLoadBalancer', 'Deleted load balancer');
}

/** LBC-13: nothing but the nodes changed. Who cannot be told is made whole next time. */
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
    else tell(recorder, service, 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  } catch (error) {
    if (isElsewhere(error)) return;
    memory.whole.add(key);
    metrics.nodeSyncErrors.add();
    // Only a failure where there is something that could not be told.
    if (!(await provider.exists(ownerOf(service), service, signal).catch(() => true))) throw error;
    const message = `Error updating load balancer with new hosts ${hostNames(nodes)}, error: ${textOf(error)}`;
    recorder.record(service, { type: 'Warning', reason: 'UpdateLoadBalancerFailed', message });
    throw error;
  } finally {
    metrics.hostUpdateLatency.observe({}, (clock.now() - startedAt) / 1000);
  }
}

/** Tells people, in an event and in a condition of the Service, and says when to try again. */
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
      log.debug('condition could not be written', { service: key, error: textOf(failure) });
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

function tell(recorder: EventRecorder, service: Service, reason: string, message: string): void {
  recorder.record(service, { type: 'Normal', reason, message });
}

/** As many names as a person reads. */
const maxShownAnnotations = 10;

/** Once, and again when they are others. */
function warnOfIgnored(
  { provider, recorder, memory }: SyncParts,
  key: string,
  service: Service,
): void {
  const names = provider.ignored?.(service) ?? [];
  const all = `${service.metadata.uid} ${names.join()}`;
  if (memory.told.get(key) === all) return;
  memory.told.set(key, all);
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

/** As many names as upstream prints. */
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

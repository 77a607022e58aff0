// The service controller: watches Services and Nodes, and reconciles their load balancers.

import type { ApiCaller } from '../../client/api-call.ts';
import { createEventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import type { QueueMetrics } from '../../client/queue-metrics.ts';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import type { Clock } from '../../host/clock.ts';
import type { Node } from '../../kinds/node/types.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import type { Log } from '../../observe/log.ts';
import type { MetricsRegistry } from '../../observe/metrics.ts';
import type { Provider } from '../provider.ts';
import { createServiceWriter } from './apply.ts';
import { hostsKey } from './candidate-nodes.ts';
import { changeEvent } from './change-events.ts';
import { nextStep } from './desired.ts';
import { createServiceControllerMetrics, type ServiceControllerMetrics } from './metrics.ts';
import { needsEnsure } from './needs-ensure.ts';
import { createSyncMemory, type SyncMemory, type SyncParts, syncService } from './run-sync.ts';

export type ServiceControllerOptions = {
  readonly caller: ApiCaller;
  readonly provider: Provider;
  /** Both have synced. */
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly queueMetrics: QueueMetrics;
  readonly concurrency: number;
  /** The loadBalancerClass of the Services; absent: those without one. */
  readonly ownClass?: string;
};

/** Slow back-off, as clouds are slow and limit requests (LBC-08). */
const backOff = { firstMs: 5_000, maxMs: 300_000 };

/** Resolves when the signal is aborted and the workers have finished. */
export async function runServiceController(
  options: ServiceControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { services, nodes, clock, log, provider, ownClass, concurrency } = options;
  const memory = createSyncMemory();
  const recorder = createEventRecorder({ ...options, component: 'service-controller' });
  const metrics = createServiceControllerMetrics(options.metrics);
  const rounds = createNodeRounds(metrics, clock);
  const parts: SyncParts = {
    provider,
    writer: createServiceWriter(resourceClient(options.caller, serviceDefinition)),
    recorder,
    find: (key) => newest(services.store.get(key), memory, key),
    nodes: () => [...nodes.store.values()],
    memory,
    metrics,
    clock,
    log,
    ...(ownClass === undefined ? {} : { ownClass }),
  };
  const reconciler = startReconciler(
    {
      name: 'service',
      reconcile: (key, until) => syncService(parts, key, until).finally(() => rounds.done(key)),
      clock,
      log,
      concurrency,
      backOff,
      metrics: options.queueMetrics,
    },
    signal,
  );
  const { queue } = reconciler;
  const addWhole = (key: string): void => {
    memory.whole.add(key);
    queue.add(key);
  };
  // A Service whose request could not be met may get it now.
  provider.onRelief?.(() => memory.unmet.forEach(addWhole));
  const stops = [
    services.onChange({
      add: (service) => {
        if (nextStep(service, ownClass) !== 'nothing') addWhole(objectKey(service.metadata));
      },
      update(before, after) {
        if (!needsEnsure(before, after)) return;
        if (nextStep(before, ownClass) === 'nothing' && nextStep(after, ownClass) === 'nothing')
          return;
        const event = changeEvent(before, after, ownClass);
        if (event !== undefined) recorder.record(after, { type: 'Normal', ...event });
        addWhole(objectKey(after.metadata));
      },
      // Matters only when another client removed the finalizer.
      delete: ({ metadata }) => queue.add(objectKey(metadata)),
    }),
    followHosts(nodes, clock, (hosts) => {
      const keys = [...memory.hosts].filter(([, sent]) => sent !== hosts).map(([key]) => key);
      rounds.start(keys);
      for (const key of keys) queue.add(key);
    }),
  ];
  await reconciler.ended;
  for (const stop of stops) stop();
  await recorder.flushed();
}

/** Our own last write may be newer than the informer's copy. */
function newest(
  cached: Service | undefined,
  { written }: SyncMemory,
  key: string,
): Service | undefined {
  const own = written.get(key);
  if (cached === undefined || own === undefined) return cached;
  const isOlder = version(own) <= version(cached) || own.metadata.uid !== cached.metadata.uid;
  if (!isOlder) return own;
  written.delete(key);
  return cached;
}

const version = ({ metadata }: Service): number => Number(metadata.resourceVersion);

/** Reports changes of nodes that affect hosts, batched. */
function followHosts(
  nodes: Informer<Node>,
  clock: Clock,
  changed: (hosts: string) => void,
): () => void {
  let known: string | undefined;
  let cancel: (() => void) | undefined;
  const check = (): void => {
    cancel = undefined;
    const key = hostsKey([...nodes.store.values()]);
    if (key === known) return;
    known = key;
    changed(key);
  };
  const soon = (): void => {
    cancel ??= clock.after(0, check);
  };
  const stop = nodes.onChange({ add: soon, update: soon, delete: soon });
  soon();
  return () => {
    stop();
    cancel?.();
  };
}

/** Measures the time until all load balancers are updated after a change of nodes. */
function createNodeRounds({ nodeSyncLatency }: ServiceControllerMetrics, clock: Clock) {
  let startedAt = 0;
  const left = new Set<string>();
  return {
    start(keys: readonly string[]): void {
      if (left.size === 0) startedAt = clock.now();
      for (const key of keys) left.add(key);
    },
    done(key: string): void {
      if (left.delete(key) && left.size === 0)
        nodeSyncLatency.observe({}, (clock.now() - startedAt) / 1000);
    },
  };
}

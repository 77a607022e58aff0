// Runs the service controller with a provider until the signal is aborted.

import type { Informer } from '../client/informer.ts';
import { createQueueMetrics } from '../client/queue-metrics.ts';
import { createSharedInformers, waitForSync } from '../client/shared-informers.ts';
import type { Transport } from '../client/transport.ts';
import { type Clock, sleep, systemClock } from '../host/clock.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import {
  type MakeProvider,
  type ProviderGiven,
  type ProviderSettings,
  ProviderSettingsError,
} from './provider.ts';
import { runServiceController } from './service-controller/run.ts';

export type CloudOptions = {
  readonly transport: Transport;
  readonly log: Log;
  readonly makeProvider: MakeProvider;
  /** The provider's flags. */
  readonly settings: ProviderSettings;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly metrics?: MetricsRegistry;
  readonly clusterName?: string;
  /** Services to sync concurrently. */
  readonly concurrency?: number;
  /** The loadBalancerClass of the Services; absent: those without one. */
  readonly loadBalancerClass?: string;
};

/** The field manager of writes, as upstream's. */
const userAgent = 'cloud-controller-manager';
export const defaultClusterName = 'kubernetes';
/** Upstream's is 1. A cloud may take minutes per load balancer, and other Services need not wait. */
export const defaultConcurrency = 8;
/** Delay before a restart: the cause of the failure likely persists. */
const restartMs = 1000;

/** Throws a ProviderSettingsError; all other failures are retried. */
export async function startCloud(options: CloudOptions): Promise<void> {
  const { signal, clock = systemClock } = options;
  const log = options.log.with({ part: 'cloud' });
  while (!signal.aborted) {
    // A failed run must not leave watches behind.
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    try {
      await runOnce({ ...options, clock, log }, until);
    } catch (error) {
      if (error instanceof ProviderSettingsError) throw error;
      log.error('Service controller failed, restarting', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      await sleep(clock, restartMs, signal);
    } finally {
      ending.abort();
    }
  }
}

async function runOnce(
  options: CloudOptions & { readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { transport, clock, log, metrics = createMetrics(), loadBalancerClass } = options;
  const caller = { transport, userAgent };
  const informers = createSharedInformers({ caller, clock, log }, signal);
  const services = informers.of(serviceDefinition);
  const nodes = informers.of(nodeDefinition);
  // A provider that allocates from the state of Services must know all of them first.
  if (!(await waitForSync([services, nodes], signal))) return informers.ended();
  const given: ProviderGiven = {
    clusterName: options.clusterName ?? defaultClusterName,
    settings: options.settings,
    followServices: followServicesOf(services),
    clock,
    log,
    metrics,
  };
  await runServiceController(
    {
      caller,
      provider: await options.makeProvider(given, signal),
      services,
      nodes,
      clock,
      log,
      metrics,
      queueMetrics: createQueueMetrics(metrics, clock),
      concurrency: options.concurrency ?? defaultConcurrency,
      ...(loadBalancerClass === undefined ? {} : { ownClass: loadBalancerClass }),
    },
    signal,
  );
  await informers.ended();
}

function followServicesOf(services: Informer<Service>): ProviderGiven['followServices'] {
  return ({ set, remove }) => {
    services.onChange({
      add: set,
      update(before, after) {
        // Deleted and created again between two events.
        if (before.metadata.uid !== after.metadata.uid) remove(before);
        set(after);
      },
      delete: remove,
    });
  };
}

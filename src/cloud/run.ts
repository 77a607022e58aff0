// Runs the service controller with a provider, until the signal ends it.

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
  /** Services worked on at a time. */
  readonly concurrency?: number;
  /** The class of Services that are served; absent: those without one. */
  readonly loadBalancerClass?: string;
};

/** The field manager of what is written, as with the original. */
const userAgent = 'cloud-controller-manager';
export const defaultClusterName = 'kubernetes';
/** Upstream has one. A balancer takes a cloud minutes, and others need not wait for it. */
export const defaultConcurrency = 8;
/** What broke is started again, not at once: what broke it is likely still there. */
const restartMs = 1000;

/** Throws a ProviderSettingsError; whatever else goes wrong is tried again. */
export async function startCloud(options: CloudOptions): Promise<void> {
  const { signal, clock = systemClock } = options;
  const log = options.log.with({ part: 'cloud' });
  while (!signal.aborted) {
    // What broke must not leave watches behind.
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    try {
      await runOnce({ ...options, clock, log }, until);
    } catch (error) {
      if (error instanceof ProviderSettingsError) throw error;
      log.error('controller broke, starting it again', {
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
  // A provider that decides from Services must not decide before it knows all of them.
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
        // Deleted and made anew between two looks.
        if (before.metadata.uid !== after.metadata.uid) remove(before);
        set(after);
      },
      delete: remove,
    });
  };
}

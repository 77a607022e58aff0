// Runs all controllers over one set of informers.
import { createQueueMetrics } from '../client/queue-metrics.ts';
import { createSharedInformers } from '../client/shared-informers.ts';
import type { Transport } from '../client/transport.ts';
import { type Clock, sleep, systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import { allControllers } from './all.ts';
import type { Controller, ControllerParts } from './controller.ts';
import { type ControllerSettings, defaultSettings } from './settings.ts';

export type ControllersOptions = {
  readonly transport: Transport;
  readonly log: Log;
  /** The CA bundle that clients inside the cluster verify the API server with, PEM. */
  readonly authorityCertificate: string;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** The registry for the controllers' metrics; absent: not exposed. */
  readonly metrics?: MetricsRegistry;
  /** The transport of each service account; absent: all controllers use `transport`. The informers always do. */
  readonly transportOf?: (account: string) => Transport;
  /** Absent: all of them. */
  readonly controllers?: readonly Controller[];
  /** Overrides of the defaults. */
  readonly settings?: Partial<ControllerSettings>;
};

/** Field manager of all writes, as upstream's. */
const userAgent = 'kube-controller-manager';
/** A controller that failed is restarted after this; the cause is likely to last longer than a moment. */
const restartMs = 1000;

/** Resolves when all controllers have stopped after the abort. Errors of the API server are retried, never thrown. */
export async function startControllers(options: ControllersOptions): Promise<void> {
  const {
    transport,
    signal,
    clock = systemClock,
    metrics = createMetrics(),
    controllers = allControllers,
    authorityCertificate,
  } = options;
  const log = options.log.with({ part: 'controllers' });
  const caller = { transport, userAgent };
  const informers = createSharedInformers({ caller, clock, log }, signal);
  const parts = {
    caller,
    informers,
    clock,
    log,
    metrics,
    queueMetrics: createQueueMetrics(metrics, clock),
    settings: { ...defaultSettings, ...options.settings },
    authorityCertificate,
  };
  const partsOf = ({ account }: Controller): ControllerParts => {
    const own = options.transportOf?.(account);
    if (own === undefined) return parts;
    return { ...parts, caller: { transport: own, userAgent: `${userAgent}/${account}` } };
  };
  await Promise.all(
    controllers.map((controller) => keepRunning(controller, partsOf(controller), signal)),
  );
  await informers.ended();
}

async function keepRunning(
  controller: Controller,
  parts: ControllerParts,
  signal: AbortSignal,
): Promise<void> {
  const log = parts.log.with({ controller: controller.name });
  while (!signal.aborted) {
    try {
      return await controller.run({ ...parts, log }, signal);
    } catch (error) {
      log.error('Controller failed, restarting', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      await sleep(parts.clock, restartMs, signal);
    }
  }
}

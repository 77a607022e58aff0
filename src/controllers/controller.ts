// The contract of a controller: a name, what it may read and write, and a loop that runs until its signal is aborted.
import type { ApiCaller } from '../client/api-call.ts';
import type { QueueMetrics } from '../client/queue-metrics.ts';
import type { SharedInformers } from '../client/shared-informers.ts';
import type { Clock } from '../host/clock.ts';
import type { Right } from '../kinds/rbac/rights.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { ControllerSettings } from './settings.ts';

export type ControllerParts = {
  readonly caller: ApiCaller;
  readonly informers: SharedInformers;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** Where work queues count. */
  readonly queueMetrics: QueueMetrics;
  readonly settings: ControllerSettings;
  /** The CA bundle that clients inside the cluster verify the API server with, PEM. */
  readonly authorityCertificate: string;
};

export type Controller = {
  /** In flags and logs; the name in kube-controller-manager where there is one. */
  readonly name: string;
  /** An older name that `--controllers` also accepts. */
  readonly shortName?: string;
  /** Its service account in kube-system, as in kube-controller-manager; every API server binds it to `system:controller:NAME`. */
  readonly account: string;
  /** What it reads through the shared informers. */
  readonly watches: readonly Right[];
  /** Every other request it makes, as its own service account with --use-service-account-credentials. */
  readonly rights: readonly Right[];
  /** Resolves after the signal is aborted and the reconciles in progress have finished. */
  readonly run: (parts: ControllerParts, signal: AbortSignal) => Promise<void>;
};

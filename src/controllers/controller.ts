// What a controller is: a name, and a loop that runs until its signal ends it.
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
  /** The certificate that tells clients inside the cluster which server to trust, PEM. */
  readonly authorityCertificate: string;
};

export type Controller = {
  /** As flags and logs name it: kube-controller-manager's name where it has one. */
  readonly name: string;
  /** Another that flags know it by. */
  readonly shortName?: string;
  /** Its service account in kube-system: kube-controller-manager's, whose role `system:controller:NAME` every API server has. */
  readonly account: string;
  /** What it reads by the informers that all controllers share. */
  readonly watches: readonly Right[];
  /** All else that it asks of the API server, which it does as its own account where that is wanted. */
  readonly rights: readonly Right[];
  /** Resolves when the signal has ended it and the work under way is finished. */
  readonly run: (parts: ControllerParts, signal: AbortSignal) => Promise<void>;
};

// What a controller is: a name, and a loop that runs until its signal ends it.
import type { ApiCaller } from '../client/api-call.ts';
import type { SharedInformers } from '../client/shared-informers.ts';
import type { Clock } from '../host/clock.ts';
import type { PortRange } from '../ip/port-range.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';

export type ControllerParts = {
  readonly caller: ApiCaller;
  readonly informers: SharedInformers;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** The certificate that tells clients inside the cluster which server to trust, PEM. */
  readonly authorityCertificate: string;
  /** From which node ports are given; absent where that is not known. */
  readonly nodePortRange?: PortRange;
};

export type Controller = {
  readonly name: string;
  /** Resolves when the signal has ended it and the work under way is finished. */
  readonly run: (parts: ControllerParts, signal: AbortSignal) => Promise<void>;
};

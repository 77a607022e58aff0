// The contract of load balancer providers. The service controller decides when to call a provider; the provider knows how.
import type { Clock } from '../host/clock.ts';
import type { Node } from '../kinds/node/types.ts';
import type { LoadBalancerIngress, Service } from '../kinds/service/types.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';

/** Identifies the Service of a load balancer; enough to find and delete it after the Service is deleted. */
export type Owner = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

/** The desired load balancer: the current Service, and the nodes that may receive its traffic. */
export type BalancerRequest = {
  readonly service: Service;
  readonly nodes: readonly Node[];
};

export type Provider = {
  readonly name: string;
  /**
   * Creates or updates the load balancer, changing only what differs. Idempotent: a call after a crash continues where the previous
   * one stopped. Returns the status to publish.
   */
  readonly ensure: (
    request: BalancerRequest,
    signal: AbortSignal,
  ) => Promise<readonly LoadBalancerIngress[]>;
  /** Called when only the nodes have changed. */
  readonly updateHosts: (request: BalancerRequest, signal: AbortSignal) => Promise<void>;
  /** Deletes what was created for the Service and nothing else. Idempotent. */
  readonly remove: (owner: Owner, service: Service, signal: AbortSignal) => Promise<void>;
  /** Whether anything created for the Service exists, complete or partial. */
  readonly exists: (owner: Owner, service: Service, signal: AbortSignal) => Promise<boolean>;
  /** Registers a callback for released resources, upon which unmet requests are retried at once. */
  readonly onRelief?: (notify: () => void) => void;
  /** Load balancer annotations of the Service that this provider ignores. */
  readonly ignored?: (service: Service) => readonly string[];
};

/** A flag of `fairlead cloud` for one provider. */
export type ProviderFlag = {
  /** The key of the value in the settings; Commander's name of the flag. */
  readonly key: string;
  /** `--load-balancer-pool <ranges>` */
  readonly flag: string;
  readonly meaning: string;
  /** The default. */
  readonly defaultValue?: string;
};

/** The dependencies of a provider. */
export type ProviderGiven = {
  /** Identifies the load balancers of this cluster among those of others in the same account. */
  readonly clusterName: string;
  /** The provider's flags by key, as text; absent without a value and a default. */
  readonly settings: ProviderSettings;
  /** All known Services, also those of other classes and types; handlers get the present ones as added. */
  readonly followServices: (handler: ServiceHandler) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

export type ServiceHandler = {
  /** Called for new and changed Services. */
  readonly set: (service: Service) => void;
  readonly remove: (service: Service) => void;
};

export type ProviderSettings = Readonly<Record<string, string | undefined>>;

/** Throws a ProviderSettingsError for invalid settings, before it does anything. */
export type MakeProvider = (given: ProviderGiven, signal: AbortSignal) => Promise<Provider>;

/** An entry of the list of providers. The code of a provider is loaded when it is selected; its flags are known before. */
export type ProviderEntry = {
  readonly name: string;
  readonly flags: readonly ProviderFlag[];
  readonly load: () => Promise<MakeProvider>;
};

/** A flag has an invalid value; the message names the flag and says what is valid. */
export class ProviderSettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProviderSettingsError';
  }
}

/** The request cannot be met until a user changes the Service. The message says what to change. */
export class UnmetRequestError extends Error {
  /** The reason of the Service's condition. */
  readonly reason: string;
  constructor(message: string, reason = 'UnmetWish') {
    super(message);
    this.name = 'UnmetRequestError';
    this.reason = reason;
  }
}

/** Not an error: the operation is still in progress. */
export class RetryLaterError extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.name = 'RetryLaterError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** Another controller handles this Service: leave it and its status unchanged. */
export class ImplementedElsewhereError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImplementedElsewhereError';
  }
}

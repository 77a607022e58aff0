// What a load-balancer provider must be able to do. The service controller decides when; a provider only knows how.
import type { Clock } from '../host/clock.ts';
import type { Node } from '../kinds/node/types.ts';
import type { LoadBalancerIngress, Service } from '../kinds/service/types.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';

/** Which Service a balancer belongs to; enough to find and remove it after the Service is gone. */
export type Owner = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

/** A balancer as wanted: the Service as it is now, and the nodes that may take its traffic. */
export type BalancerRequest = {
  readonly service: Service;
  readonly nodes: readonly Node[];
};

export type Provider = {
  readonly name: string;
  /**
   * Makes the balancer exist and fit, changing only what differs; repeating it is harmless, and a call after a crash
   * goes on where the last one stopped. Returns what to publish in the Service's status.
   */
  readonly ensure: (
    wish: BalancerRequest,
    signal: AbortSignal,
  ) => Promise<readonly LoadBalancerIngress[]>;
  /** The nodes changed and nothing else. */
  readonly updateHosts: (wish: BalancerRequest, signal: AbortSignal) => Promise<void>;
  /** Removes what was made for the owner and nothing else; fine when nothing is there. */
  readonly remove: (owner: Owner, service: Service, signal: AbortSignal) => Promise<void>;
  /** Whether something made for the owner is there, whole or half. */
  readonly exists: (owner: Owner, service: Service, signal: AbortSignal) => Promise<boolean>;
  /** Who is to be told when something came free, so that wishes that were not met are worth another try at once. */
  readonly onRelief?: (tell: () => void) => void;
  /** Annotations of the Service that ask a provider for something, and that this one does nothing about. */
  readonly ignored?: (service: Service) => readonly string[];
};

/** A flag of `fairlead cloud` that concerns one provider. */
export type ProviderFlag = {
  /** Under which the value is found in the settings; as commander makes it of the flag. */
  readonly key: string;
  /** `--load-balancer-pool <ranges>` */
  readonly flag: string;
  readonly meaning: string;
  /** What holds where the flag is not given. */
  readonly usual?: string;
};

/** What a provider is made with. */
export type ProviderGiven = {
  /** Tells the balancers of this cluster from those of others in the same account. */
  readonly clusterName: string;
  /** The provider's flags by their keys, as text; those not given and without a usual value are absent. */
  readonly settings: ProviderSettings;
  /** All Services as far as they are known, also those of other classes and types; those there already are told as added. */
  readonly followServices: (handler: ServiceHandler) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

export type ServiceHandler = {
  /** A Service is new or has changed. */
  readonly set: (service: Service) => void;
  readonly remove: (service: Service) => void;
};

export type ProviderSettings = Readonly<Record<string, string | undefined>>;

/** Throws a ProviderSettingsError before it does anything when a setting makes no sense. */
export type MakeProvider = (given: ProviderGiven, signal: AbortSignal) => Promise<Provider>;

/** A provider as the list names it. Its code is loaded when it is chosen, its flags are known before. */
export type ProviderEntry = {
  readonly name: string;
  readonly flags: readonly ProviderFlag[];
  readonly load: () => Promise<MakeProvider>;
};

/** A flag has a value that makes no sense; the text names the flag and says what it must be. */
export class ProviderSettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProviderSettingsError';
  }
}

/** The request can never be met as it stands: a person must change the Service. Its text says what and to what. */
export class UnmetRequestError extends Error {
  /** One word for programs, in the Service's condition. */
  readonly reason: string;
  constructor(message: string, reason = 'UnmetWish') {
    super(message);
    this.name = 'UnmetRequestError';
    this.reason = reason;
  }
}

/** Nothing is wrong, it only takes longer. */
export class RetryLaterError extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.name = 'RetryLaterError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** Another program looks after this Service: leave it and its status alone. */
export class ImplementedElsewhereError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImplementedElsewhereError';
  }
}

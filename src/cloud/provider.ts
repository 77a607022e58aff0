// What a load-balancer provider must be able to do. The service controller decides when; a provider only knows how.
import type { Node } from '../kinds/node/types.ts';
import type { LoadBalancerIngress, Service } from '../kinds/service/types.ts';

/** Which Service a balancer belongs to; enough to find and remove it after the Service is gone. */
export type Owner = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

/** A balancer as wanted: the Service as it is now, and the nodes that may take its traffic. */
export type Wish = {
  readonly service: Service;
  readonly nodes: readonly Node[];
};

export type Provider = {
  readonly name: string;
  /**
   * Makes the balancer exist and fit, changing only what differs; repeating it is harmless, and a call after a crash
   * goes on where the last one stopped. Returns what to publish in the Service's status.
   */
  readonly ensure: (wish: Wish, signal: AbortSignal) => Promise<readonly LoadBalancerIngress[]>;
  /** The nodes changed and nothing else. */
  readonly updateHosts: (wish: Wish, signal: AbortSignal) => Promise<void>;
  /** Removes what was made for the owner and nothing else; fine when nothing is there. */
  readonly remove: (owner: Owner, service: Service, signal: AbortSignal) => Promise<void>;
  /** Whether something made for the owner is there, whole or half. */
  readonly exists: (owner: Owner, service: Service, signal: AbortSignal) => Promise<boolean>;
};

/** The request can never be met as it stands: a person must change the Service. Its text says what and to what. */
export class UnmetWishError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnmetWishError';
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

// How readers take conditions that are not set.
import type { EndpointConditions } from './types.ts';

export function isReady(conditions: EndpointConditions): boolean {
  return conditions.ready ?? true;
}

/** The API leaves it to readers to take what is not said for the readiness; node proxies take it for true. */
export function isServing(conditions: EndpointConditions): boolean {
  return conditions.serving ?? true;
}

export function isTerminating(conditions: EndpointConditions): boolean {
  return conditions.terminating ?? false;
}

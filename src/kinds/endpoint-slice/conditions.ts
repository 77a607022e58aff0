// How readers take conditions that are not set.
import type { EndpointConditions } from './types.ts';

export function isReady(conditions: EndpointConditions): boolean {
  return conditions.ready ?? true;
}

export function isServing(conditions: EndpointConditions): boolean {
  return conditions.serving ?? isReady(conditions);
}

export function isTerminating(conditions: EndpointConditions): boolean {
  return conditions.terminating ?? false;
}

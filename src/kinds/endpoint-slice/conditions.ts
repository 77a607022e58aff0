// Defaults of conditions that are not set.
import type { EndpointConditions } from './types.ts';

export function isReady(conditions: EndpointConditions): boolean {
  return conditions.ready ?? true;
}

/** The API lets readers default to `ready`; kube-proxy uses true, and so does this. */
export function isServing(conditions: EndpointConditions): boolean {
  return conditions.serving ?? true;
}

export function isTerminating(conditions: EndpointConditions): boolean {
  return conditions.terminating ?? false;
}

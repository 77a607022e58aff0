// When two endpoints are one and the same, and when one has changed.
import { deepEqual } from '../../schema/equality.ts';
import type { Endpoint } from './types.ts';

/** Stays the same while readiness, node and the like change; the same address of two pods is two endpoints. */
export function endpointIdentity({ addresses, hostname = '', targetRef }: Endpoint): string {
  const all = addresses ?? [];
  const text = all.length < 2 ? (all[0] ?? '') : [...all].sort().join();
  return `${text} ${hostname} ${targetRef?.namespace ?? ''} ${targetRef?.name ?? ''}`;
}

/** Hints do not count: they are decided over all endpoints, after this. Nor does the version of the pod. */
export function isUnchanged(before: Endpoint, after: Endpoint): boolean {
  return deepEqual(comparable(before), comparable(after));
}

function comparable({ hints: _, targetRef, ...endpoint }: Endpoint): unknown {
  if (targetRef === undefined) return endpoint;
  const { resourceVersion: __, ...reference } = targetRef;
  return { ...endpoint, targetRef: reference };
}

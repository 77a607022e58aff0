// Identity and equality of endpoints.
import { deepEqual } from '../../schema/equality.ts';
import type { Endpoint, EndpointConditions } from './types.ts';

/** Independent of conditions and node; the same address of two pods is two endpoints. */
export function endpointIdentity({ addresses, hostname = '', targetRef }: Endpoint): string {
  const all = addresses ?? [];
  const text = all.length < 2 ? (all[0] ?? '') : [...all].sort().join();
  return `${text} ${hostname} ${targetRef?.namespace ?? ''} ${targetRef?.name ?? ''}`;
}

/** Ignores hints, which are assigned later, and the resource version of the pod. */
export function isUnchanged(before: Endpoint, after: Endpoint): boolean {
  return (
    before.nodeName === after.nodeName &&
    before.zone === after.zone &&
    before.hostname === after.hostname &&
    hasSameConditions(before.conditions, after.conditions) &&
    hasSameTarget(before.targetRef, after.targetRef) &&
    deepEqual(before.addresses, after.addresses) &&
    deepEqual(before.deprecatedTopology, after.deprecatedTopology)
  );
}

function hasSameConditions(before: EndpointConditions, after: EndpointConditions): boolean {
  return (
    before.ready === after.ready &&
    before.serving === after.serving &&
    before.terminating === after.terminating
  );
}

function hasSameTarget(before: Endpoint['targetRef'], after: Endpoint['targetRef']): boolean {
  return (
    (before === undefined) === (after === undefined) &&
    before?.kind === after?.kind &&
    before?.namespace === after?.namespace &&
    before?.name === after?.name &&
    before?.uid === after?.uid &&
    before?.apiVersion === after?.apiVersion &&
    before?.fieldPath === after?.fieldPath
  );
}

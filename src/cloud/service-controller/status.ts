// The status of a Service: load balancer ingress and condition.
import type { LoadBalancerIngress, Service } from '../../kinds/service/types.ts';
import type { Condition } from '../../meta/conditions.ts';
import { deepEqual } from '../../schema/equality.ts';
import { cleanupFinalizer } from './desired.ts';

/** The condition that explains why a Service has no load balancer. It is added with the first failure. */
export const readyCondition = 'fairlead.dev/LoadBalancerReady';

/** The uid makes a patch of another object with the same name fail. */
const onlyFor = ({ metadata }: Service): object =>
  metadata.uid === undefined ? {} : { uid: metadata.uid };

export function addFinalizerPatch(service: Service): object {
  return { metadata: { ...onlyFor(service), finalizers: [cleanupFinalizer] } };
}

export function removeFinalizerPatch(service: Service): object {
  const removed = { '$deleteFromPrimitiveList/finalizers': [cleanupFinalizer] };
  return { metadata: { ...onlyFor(service), ...removed } };
}

/** Undefined when the status is already up to date. */
export function statusPatch(
  service: Service,
  ingress: readonly LoadBalancerIngress[],
  conditions: readonly object[] = [],
): object | undefined {
  const isSame = deepEqual(service.status.loadBalancer?.ingress ?? [], ingress);
  if (isSame && conditions.length === 0) return undefined;
  return {
    metadata: onlyFor(service),
    status: {
      ...(isSame ? {} : { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

export function conditionPatch(service: Service, condition: Condition): object {
  return { metadata: onlyFor(service), status: { conditions: [condition] } };
}

const maxMessageLength = 1024;

/** Undefined when the condition is already up to date. */
export function failedCondition(
  service: Service,
  { reason, message, time }: { reason: string; message: string; time: string },
): Condition | undefined {
  const current = readyConditionOf(service);
  const wanted = { status: 'False' as const, reason, message: message.slice(0, maxMessageLength) };
  if (
    current?.status === wanted.status &&
    current.reason === wanted.reason &&
    current.message === wanted.message
  )
    return undefined;
  const lastTransitionTime = current?.status === 'False' ? current.lastTransitionTime : time;
  return { type: readyCondition, ...wanted, lastTransitionTime };
}

/** The condition after success: none if there was none. */
export function solvedConditions(service: Service, time: string): readonly Condition[] {
  const current = readyConditionOf(service);
  if (current === undefined || current.status === 'True') return [];
  const { type } = current;
  return [{ type, status: 'True', reason: 'Ensured', message: '', lastTransitionTime: time }];
}

/** For a Service that no longer requests a load balancer. */
export function droppedConditions(service: Service): readonly object[] {
  return readyConditionOf(service) === undefined
    ? []
    : [{ $patch: 'delete', type: readyCondition }];
}

function readyConditionOf({ status }: Service): Condition | undefined {
  return status.conditions?.find(({ type }) => type === readyCondition);
}

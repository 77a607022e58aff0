// What the server fills in and keeps when a pod is written, with what admission does on a default cluster.
import { notReadyTaint, unreachableTaint } from '../../meta/well-known-taints.ts';
import type { Toleration } from './affinity.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodCondition, PodStatus } from './pod-status.ts';
import { qualityOfService } from './quality-of-service.ts';
import type { Pod } from './types.ts';

/** How long pods stay on a node that is not ready or not reachable. */
const evictionSeconds = 300;
/** Priority classes that every cluster has. */
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

export function preparePodCreate(pod: Pod): Pod {
  const spec = withEvictionTolerations(withPriority(pod.spec));
  return { ...pod, spec, status: initialStatus(spec) };
}

export function preparePodUpdate(before: Pod, after: Pod): Pod {
  const { priority, preemptionPolicy } = before.spec;
  const spec: PodSpec = {
    ...after.spec,
    // Set by the server at creation; a client that leaves them out does not mean to remove them.
    ...(after.spec.priority === undefined && priority !== undefined ? { priority } : {}),
    ...(after.spec.preemptionPolicy === undefined && preemptionPolicy !== undefined
      ? { preemptionPolicy }
      : {}),
  };
  return { ...after, spec: withEvictionTolerations(spec), status: before.status };
}

export function preparePodStatusUpdate(before: Pod, after: Pod): Pod {
  const { ownerReferences: _ignored, ...metadata } = after.metadata;
  const { ownerReferences } = before.metadata;
  const qosClass = after.status.qosClass || before.status.qosClass;
  return {
    ...after,
    // Old nodes spoilt owner references, so a status write does not touch them.
    metadata: { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
    spec: before.spec,
    status: {
      ...keepObservedGenerations(before.status, after.status),
      ...(qosClass ? { qosClass } : {}),
    },
  };
}

/** Writers that do not know of generations do not take away what others observed. */
function keepObservedGenerations(before: PodStatus, after: PodStatus): PodStatus {
  const known = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of before.conditions ?? [])
    known.set(type, [...(known.get(type) ?? []), observedGeneration]);
  const conditions = after.conditions?.map((condition) => {
    const observed = known.get(condition.type)?.shift();
    return condition.observedGeneration || !observed
      ? condition
      : { ...condition, observedGeneration: observed };
  });
  const observed = after.observedGeneration || before.observedGeneration;
  return {
    ...after,
    ...(conditions === undefined ? {} : { conditions }),
    ...(observed ? { observedGeneration: observed } : {}),
  };
}

/** Only the list of containers for debugging is taken, and who wrote it. */
export function prepareEphemeralUpdate(before: Pod, after: Pod): Pod {
  const { ephemeralContainers } = after.spec;
  const { ephemeralContainers: _before, ...spec } = before.spec;
  return {
    ...after,
    metadata: onlyManagersOf(before, after),
    spec: { ...spec, ...(ephemeralContainers === undefined ? {} : { ephemeralContainers }) },
    status: before.status,
  };
}

/** Of a write about one part of a pod: its metadata stays, but for who wrote what. */
export function onlyManagersOf(before: Pod, after: Pod): Pod['metadata'] {
  const { managedFields } = after.metadata;
  const { managedFields: _own, ...metadata } = before.metadata;
  return { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) };
}

function initialStatus(spec: PodSpec): PodStatus {
  const status: PodStatus = { phase: 'Pending', qosClass: qualityOfService(spec) };
  if ((spec.schedulingGates ?? []).length === 0) return status;
  return { ...status, conditions: [gated] };
}

const gated: PodCondition = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

function withPriority(spec: PodSpec): PodSpec {
  return {
    ...spec,
    priority: spec.priority ?? systemPriorities[spec.priorityClassName ?? ''] ?? 0,
    preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
  };
}

function withEvictionTolerations(spec: PodSpec): PodSpec {
  const tolerations = spec.tolerations ?? [];
  const missing = [notReadyTaint, unreachableTaint].filter(
    (key) => !tolerations.some((toleration) => tolerates(toleration, key)),
  );
  if (missing.length === 0) return spec;
  const added = missing.map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: evictionSeconds,
  }));
  return { ...spec, tolerations: [...tolerations, ...added] };
}

function tolerates({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute');
}

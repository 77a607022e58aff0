// What the server sets and restores when a pod is written, including admission plugins of a default cluster.
import { notReadyTaint, unreachableTaint } from '../../meta/well-known-taints.ts';
import type { Toleration } from './affinity.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodCondition, PodStatus } from './pod-status.ts';
import { qualityOfService } from './quality-of-service.ts';
import type { Pod } from './types.ts';

/** Default toleration seconds for nodes that are not ready or unreachable. */
const evictionSeconds = 300;
/** Priority classes of every cluster. */
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
    // Set on creation; clients that omit them do not mean to remove them.
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
    // Status writes keep owner references, because old kubelets corrupted them.
    metadata: { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
    spec: before.spec,
    status: {
      ...keepObservedGenerations(before.status, after.status),
      ...(qosClass ? { qosClass } : {}),
    },
  };
}

/** A writer that omits observedGeneration keeps the stored one. */
function keepObservedGenerations(previous: PodStatus, after: PodStatus): PodStatus {
  const known = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of previous.conditions ?? [])
    known.set(type, [...(known.get(type) ?? []), observedGeneration]);
  const conditions = after.conditions?.map((condition) => {
    const observed = known.get(condition.type)?.shift();
    return condition.observedGeneration || !observed
      ? condition
      : { ...condition, observedGeneration: observed };
  });
  const observed = after.observedGeneration || previous.observedGeneration;
  return {
    ...after,
    ...(conditions === undefined ? {} : { conditions }),
    ...(observed ? { observedGeneration: observed } : {}),
  };
}

/** Takes only the list of ephemeral containers, and managedFields. */
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

/** For a subresource: keeps all metadata except managedFields. */
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

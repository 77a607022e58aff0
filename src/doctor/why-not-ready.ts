// Why a pod is not ready: the first cause in the order in which a pod starts.

import { nodeCondition } from '../kinds/node/readiness.ts';
import type { Container } from '../kinds/pod/container.ts';
import type { ContainerStatus } from '../kinds/pod/pod-status.ts';
import { isRestartableInitContainer } from '../kinds/pod/ports.ts';
import { isPodFinished, isPodReady, podCondition } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead } from '../snapshot/snapshot.ts';
import { lastEvent } from './last-event.ts';

export type UnreadyCause =
  | 'terminating'
  | 'finished'
  | 'unscheduled'
  | 'node'
  | 'image'
  | 'configuration'
  | 'init'
  | 'crash'
  | 'startup'
  | 'probe'
  | 'gate'
  | 'starting';

export type Unready = {
  readonly cause: UnreadyCause;
  /** Such as `container app: Readiness probe failed: HTTP probe failed with statuscode: 503`. */
  readonly detail: string;
  /** Of the pod: where it is written. */
  readonly field: string;
  readonly value: string;
  readonly container?: string;
};

export function whyNotReady(pod: Pod, index: SnapshotIndex): Unready | undefined {
  if (isPodReady(pod)) return undefined;
  return (
    leaving(pod) ??
    withoutNode(pod, index) ??
    fromInitContainers(pod) ??
    fromContainers(pod, index) ??
    fromGates(pod) ??
    starting(pod, index)
  );
}

function leaving({ metadata, status, ...pod }: Pod): Unready | undefined {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) {
    return {
      cause: 'terminating',
      detail: 'is being deleted',
      field: 'metadata.deletionTimestamp',
      value: deletionTimestamp,
    };
  }
  if (!isPodFinished({ ...pod, status })) return undefined;
  const phase = status.phase ?? '';
  const why = [status.reason, status.message].filter(Boolean).join(': ');
  const detail =
    phase === 'Succeeded' ? 'has finished' : `has failed${why === '' ? '' : `: ${why}`}`;
  return { cause: 'finished', detail, field: 'status.phase', value: phase };
}

function withoutNode(pod: Pod, index: SnapshotIndex): Unready | undefined {
  const { nodeName, schedulingGates = [] } = pod.spec;
  if (!nodeName) {
    const scheduled = podCondition(pod, 'PodScheduled');
    const gates = schedulingGates.map(({ name }) => name);
    const message = gates.length > 0 ? `waits for scheduling gates ${gates}` : scheduled?.message;
    return {
      cause: 'unscheduled',
      detail: message ?? 'has no node',
      field: 'status.conditions[PodScheduled]',
      value: scheduled?.reason ?? '(absent)',
    };
  }
  if (!isRead(index.snapshot, 'nodes') || index.snapshot.objects.nodes.length === 0)
    return undefined;
  const node = index.node(nodeName);
  // Without the condition nothing is known.
  const isReady = node !== undefined && (nodeCondition(node, 'Ready')?.status ?? 'True') === 'True';
  if (isReady) return undefined;
  const detail =
    node === undefined ? `its node ${nodeName} is gone` : `its node ${nodeName} is not ready`;
  return { cause: 'node', detail, field: 'spec.nodeName', value: nodeName };
}

function fromInitContainers({ spec, status }: Pod): Unready | undefined {
  for (const [at, container] of (spec.initContainers ?? []).entries()) {
    const current = status.initContainerStatuses?.find(({ name }) => name === container.name);
    if (current === undefined || isRestartableInitContainer(container)) continue;
    const { terminated, waiting } = current.state ?? {};
    if (terminated?.exitCode === 0) continue;
    const broken = notStarted(container, current, `status.initContainerStatuses[${at}]`);
    if (broken !== undefined && broken.cause !== 'crash') return broken;
    const state = exitText(current) ?? (waiting === undefined ? 'still runs' : 'has not started');
    return {
      cause: 'init',
      container: container.name ?? '',
      detail: `init container ${container.name}: ${state}`,
      field: `status.initContainerStatuses[${at}].state`,
      value: stateText(current),
    };
  }
  return undefined;
}

function fromContainers(pod: Pod, index: SnapshotIndex): Unready | undefined {
  let probing: Unready | undefined;
  for (const [at, current] of (pod.status.containerStatuses ?? []).entries()) {
    const container = pod.spec.containers?.find(({ name }) => name === current.name);
    if (container === undefined || current.ready === true) continue;
    const field = `status.containerStatuses[${at}]`;
    const broken = notStarted(container, current, field);
    if (broken !== undefined) return broken;
    if (current.state?.running !== undefined) {
      probing ??= probed({ pod, container, current, index, field });
    }
  }
  return probing;
}

const imageReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
]);
const configurationReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

function notStarted(
  { name = '', image = '' }: Container,
  current: ContainerStatus,
  field: string,
): Unready | undefined {
  const { waiting, terminated } = current.state ?? {};
  const reason = waiting?.reason ?? '';
  const value = stateText(current);
  const common = { field: `${field}.state`, value, container: name };
  const message = waiting?.message ?? reason;
  if (imageReasons.has(reason)) {
    return { ...common, cause: 'image', detail: `container ${name}, image ${image}: ${message}` };
  }
  if (configurationReasons.has(reason)) {
    return { ...common, cause: 'configuration', detail: `container ${name}: ${message}` };
  }
  if (reason !== 'CrashLoopBackOff' && terminated === undefined) return undefined;
  const exit = exitText(current) ?? message;
  const restarts = current.restartCount ?? 0;
  return { ...common, cause: 'crash', detail: `container ${name}: ${exit}, ${restarts} restarts` };
}

/** How it last ended. */
function exitText({ state, lastState }: ContainerStatus): string | undefined {
  const last = state?.terminated ?? lastState?.terminated;
  if (last === undefined) return undefined;
  const why = last.reason && last.reason !== 'Error' ? ` (${last.reason})` : '';
  return `ended with exit code ${last.exitCode ?? 0}${why}`;
}

function stateText({ state }: ContainerStatus): string {
  const { waiting, terminated, running } = state ?? {};
  if (waiting !== undefined) return `waiting: ${waiting.reason ?? ''}`;
  if (terminated !== undefined)
    return `terminated: ${terminated.reason ?? terminated.exitCode ?? ''}`;
  return running === undefined ? '(absent)' : 'running';
}

type Probed = {
  readonly pod: Pod;
  readonly container: Container;
  readonly current: ContainerStatus;
  readonly index: SnapshotIndex;
  readonly field: string;
};

/** It runs, and a probe says no. */
function probed({ pod, container, current, index, field }: Probed): Unready | undefined {
  const isStartup = container.startupProbe !== undefined && current.started !== true;
  if (!isStartup && container.readinessProbe === undefined) return undefined;
  const kind = isStartup ? 'Startup' : 'Readiness';
  const event = lastEvent(index, pod, { reasons: ['Unhealthy'], beginning: kind });
  const message = event?.message?.trim() ?? `its ${kind.toLowerCase()} probe has not succeeded`;
  return {
    cause: isStartup ? 'startup' : 'probe',
    container: container.name ?? '',
    detail: `container ${container.name}: ${message}`,
    field: isStartup ? `${field}.started` : `${field}.ready`,
    value: 'false',
  };
}

function fromGates(pod: Pod): Unready | undefined {
  if (podCondition(pod, 'ContainersReady')?.status !== 'True') return undefined;
  for (const { conditionType = '' } of pod.spec.readinessGates ?? []) {
    const condition = podCondition(pod, conditionType);
    if (condition?.status === 'True') continue;
    const why = condition?.message ?? condition?.reason ?? 'no program has set the condition';
    return {
      cause: 'gate',
      detail: `readiness gate ${conditionType}: ${why}`,
      field: `status.conditions[${conditionType}]`,
      value: condition?.status ?? '(absent)',
    };
  }
  return undefined;
}

function starting(pod: Pod, index: SnapshotIndex): Unready {
  const event = lastEvent(index, pod, {
    reasons: ['FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox', 'NetworkNotReady'],
  });
  const ready = podCondition(pod, 'Ready');
  return {
    cause: 'starting',
    detail: event?.message ?? ready?.message ?? 'has not started yet',
    field: 'status.conditions[Ready]',
    value: ready?.reason ?? ready?.status ?? '(absent)',
  };
}

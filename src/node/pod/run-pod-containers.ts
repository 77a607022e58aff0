// The containers of one pod: starts and stops them, runs their probes and hooks, and keeps their records.
import type { Container, EphemeralContainer } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { readLogTail } from '../logs/read-logs.ts';
import type { NodeParts } from '../node-parts.ts';
import type { ProbeKind, ProbeResult } from '../probes/probe-state.ts';
import { runProbes } from '../probes/run-probes.ts';
import {
  ContainerConfigError,
  type ContainerEnd,
  ContainerStartError,
  type RunningContainer,
} from '../runtimes/runtime.ts';
import { readTerminationMessage } from '../volumes/open-volumes.ts';
import {
  type ActiveContainer,
  type Containers,
  graceOf,
  messageOf,
  type PodSandbox,
  recordEvent,
  updateRunning,
} from './active-containers.ts';
import { containerTypes, listOf } from './container-lists.ts';
import type { ContainerRecords, Terminated, Waiting } from './container-record.ts';
import { durationText, nextBackOff, restartLimits } from './restart-policy.ts';
import { logPath, startContainer } from './run-container.ts';
import {
  type ContainerImages,
  getContainerImages,
  type RefusedImage,
  statusImage,
} from './run-container-images.ts';
import { runHook } from './run-hook.ts';
import { resizeContainers } from './run-resize.ts';
import { type StopOptions, stopContainer } from './stop-container.ts';

export type PodContainers = {
  readonly records: () => ContainerRecords;
  readonly running: (name: string) => RunningContainer | undefined;
  readonly runningCount: () => number;
  /** Resolves when it is running and its postStart hook is done, or when it could not be started, which is in its record. */
  readonly start: (container: Container, pod: Pod, sandbox: PodSandbox) => Promise<void>;
  /** Sets its record to CrashLoopBackOff. */
  readonly backOff: (container: Container, pod: Pod) => void;
  /** Applies the resources of the spec to running containers. */
  readonly resize: (pod: Pod) => void;
  /** Resolves when it has terminated; immediately if it is not running. */
  readonly stop: (container: Container, pod: Pod, options: StopOptions) => Promise<void>;
  /** Aborts hooks and probes of starting containers: the pod is terminating. */
  readonly interrupt: () => void;
};

/** As often as the kubelet syncs its pods. */
const startRetryMs = 10_000;

export function createPodContainers(
  parts: NodeParts,
  recovered: ContainerRecords,
  changed: () => void,
): PodContainers {
  const all: Containers = {
    parts,
    records: { ...recovered },
    active: new Map(),
    changed,
    interrupted: new AbortController(),
  };
  return {
    records: () => all.records,
    running: (name) => all.active.get(name)?.running,
    runningCount: () => all.active.size,
    start: (container, pod, sandbox) => start(all, container, pod, sandbox),
    backOff: (container, pod) => backOff(all, container, pod),
    resize: (pod) => resizeContainers(all, pod),
    stop: (container, pod, options) => stopContainer(all, container, pod, options),
    interrupt: () => all.interrupted.abort(),
  };
}

async function start(
  all: Containers,
  container: Container,
  pod: Pod,
  sandbox: PodSandbox,
): Promise<void> {
  const images = await getContainerImages(all, container, pod).catch((error: unknown) => {
    // The pod is terminating.
    if (all.interrupted.signal.aborted) return undefined;
    throw error;
  });
  if (images === undefined) return;
  if ('problem' in images) onImageProblem(all, container, pod, images);
  else await startFrom(all, container, pod, { sandbox, images });
}

type StartFrom = { readonly sandbox: PodSandbox; readonly images: ContainerImages };

async function startFrom(
  all: Containers,
  container: Container,
  pod: Pod,
  { sandbox, images }: StartFrom,
): Promise<void> {
  const { parts, records } = all;
  const { name } = container;
  const before = records[name];
  const last = before?.state.kind === 'terminated' ? before.state : before?.last;
  const attempt = last === undefined ? 0 : (before?.restartCount ?? 0) + 1;
  const type = containerTypes[listOf(pod, container.name)];
  try {
    const target = targetOf(all, container);
    const running = await startContainer(
      { pod, container, attempt, images, ...target, ...sandbox },
      parts,
    ).catch((error: unknown) => {
      images.release();
      throw error;
    });
    void running.ended.then(images.release);
    recordEvent(all, pod, container, ['Created', 'Container created']);
    recordEvent(all, pod, container, ['Started', 'Container started']);
    parts.metrics.startedContainers.add({ container_type: type });
    const now = parts.clock.now();
    records[name] = {
      state: { kind: 'running', id: containerId(running), startedAt: now },
      ...(images.root === undefined ? {} : { image: statusImage(images.root) }),
      ...(last === undefined ? {} : { last }),
      restartCount: attempt,
      isStarted: false,
      isReady: false,
      resources: container.resources,
      ...(last === undefined ? {} : { backOff: nextBackOff(before?.backOff, now) }),
    };
    const active = {
      running,
      sandbox,
      probing: new AbortController(),
      restarting: new AbortController(),
    };
    all.active.set(name, active);
    void running.ended.then((end) => onExit(all, container, pod, { active, end, attempt }));
    await afterStart(all, container, pod, active);
  } catch (error) {
    onStartError(all, container, pod, error);
  }
}

/** The container whose process namespace an ephemeral container joins. */
function targetOf(
  { active }: Containers,
  { targetContainerName: name }: Partial<EphemeralContainer>,
): { readonly target?: RunningContainer } {
  if (!name) return {};
  const target = active.get(name)?.running;
  if (target === undefined)
    throw new ContainerConfigError(`unable to find target container ${name}`);
  return { target };
}

const containerId = ({ runtimeName, id }: RunningContainer): string => `${runtimeName}://${id}`;

/** Runs the postStart hook, then the probes. */
async function afterStart(
  all: Containers,
  container: Container,
  pod: Pod,
  active: ActiveContainer,
): Promise<void> {
  const { parts } = all;
  const podIP = active.sandbox.attachment.ips[0] ?? '';
  const { running, probing } = active;
  const hook = container.lifecycle?.postStart;
  const signal = AbortSignal.any([probing.signal, all.interrupted.signal]);
  try {
    if (hook !== undefined) await runHook(hook, { container, running, podIP }, parts, signal);
  } catch (error) {
    if (signal.aborted) return;
    const message = `PostStartHook failed: ${messageOf(error)}`;
    recordEvent(all, pod, container, ['FailedPostStartHook', message, 'Warning']);
    const graceMs = graceOf(pod) * 1000;
    void stopContainer(all, container, pod, { graceMs, message: 'FailedPostStartHook' });
    return;
  }
  if (container.startupProbe === undefined) {
    updateRunning(all, container, {
      isStarted: true,
      isReady: container.readinessProbe === undefined,
    });
  }
  const changed = (kind: ProbeKind, result: ProbeResult): void =>
    onProbeResult(all, container, pod, { kind, result });
  const restarts = [probing.signal, active.restarting.signal, all.interrupted.signal];
  void runProbes({ pod, container, running, podIP }, parts, {
    changed,
    signal: probing.signal,
    restartSignal: AbortSignal.any(restarts),
  });
}

function onProbeResult(
  all: Containers,
  container: Container,
  pod: Pod,
  { kind, result }: { readonly kind: ProbeKind; readonly result: ProbeResult },
): void {
  if (kind === 'readiness') {
    updateRunning(all, container, { isReady: result === 'success' });
    return;
  }
  if (result === 'success') {
    if (kind === 'startup') {
      updateRunning(all, container, {
        isStarted: true,
        isReady: container.readinessProbe === undefined,
      });
    }
    return;
  }
  const probe = kind === 'startup' ? container.startupProbe : container.livenessProbe;
  void stopContainer(all, container, pod, {
    graceMs: (probe?.terminationGracePeriodSeconds ?? graceOf(pod)) * 1000,
    message: `Container ${container.name} failed ${kind} probe, will be restarted`,
  });
}

type Exit = {
  readonly active: ActiveContainer;
  readonly end: ContainerEnd;
  readonly attempt: number;
};

function onExit(
  all: Containers,
  container: Container,
  pod: Pod,
  { active, end, attempt }: Exit,
): void {
  const { parts, records } = all;
  const { name } = container;
  active.probing.abort();
  all.active.delete(name);
  const record = records[name];
  const state: Terminated = {
    kind: 'terminated',
    id: containerId(active.running),
    exitCode: end.exitCode,
    reason: endReason(end),
    message: terminationMessage(all, container, pod, { active, end, attempt }),
    ...(record?.state.kind === 'running' ? { startedAt: record.state.startedAt } : {}),
    finishedAt: parts.clock.now(),
  };
  const { isStopping: _stopped, ...rest } = record ?? { restartCount: attempt };
  records[name] = { ...rest, state, isStarted: false, isReady: false };
  all.changed();
}

function endReason({ exitCode, isOutOfMemory }: ContainerEnd): string {
  if (isOutOfMemory === true) return 'OOMKilled';
  return exitCode === 0 ? 'Completed' : 'Error';
}

function terminationMessage(
  { parts }: Containers,
  container: Container,
  pod: Pod,
  { active, end, attempt }: Exit,
): string {
  const text = readTerminationMessage(active.sandbox.directory, container.name, attempt);
  const isFromLog = container.terminationMessagePolicy === 'FallbackToLogsOnError';
  if (text !== '' || !isFromLog || end.exitCode === 0) return text;
  return readLogTail(logPath(parts.dataDirectory, pod, container.name, attempt));
}

function backOff(all: Containers, container: Container, pod: Pod): void {
  const { records, parts } = all;
  const record = records[container.name];
  if (record?.state.kind !== 'terminated') return;
  const { name, namespace, uid } = pod.metadata;
  const podName = `${name}_${namespace}(${uid})`;
  const delay = durationText(record.backOff?.delayMs ?? restartLimits.firstMs);
  records[container.name] = {
    ...record,
    state: {
      kind: 'waiting',
      reason: 'CrashLoopBackOff',
      message: `back-off ${delay} restarting failed container=${container.name} pod=${podName}`,
    },
    last: record.state,
  };
  const message = `Back-off restarting failed container ${container.name} in pod ${podName}`;
  recordEvent(all, pod, container, ['BackOff', message, 'Warning']);
  parts.log.debug('Backing off restart of container', {
    pod: podName,
    container: container.name,
    delay,
  });
}

function onImageProblem(
  all: Containers,
  container: Container,
  pod: Pod,
  { problem: { reason, message }, retryAt }: RefusedImage,
): void {
  recordEvent(all, pod, container, ['Failed', `Error: ${reason}`, 'Warning']);
  setWaiting(all, container, { reason, message, ...(retryAt === undefined ? {} : { retryAt }) });
}

function onStartError(all: Containers, container: Container, pod: Pod, error: unknown): void {
  const type = containerTypes[listOf(pod, container.name)];
  const reason =
    error instanceof ContainerStartError
      ? error.reason
      : error instanceof ContainerConfigError
        ? 'CreateContainerConfigError'
        : 'CreateContainerError';
  all.parts.metrics.startErrors.add({ container_type: type, code: reason });
  recordEvent(all, pod, container, ['Failed', `Error: ${messageOf(error)}`, 'Warning']);
  setWaiting(all, container, { reason, message: messageOf(error) });
}

function setWaiting(
  { records, parts, changed }: Containers,
  { name }: Container,
  { reason, message, ...waiting }: Omit<Waiting, 'kind'> & { readonly message: string },
): void {
  const before = records[name];
  const last = before?.state.kind === 'terminated' ? before.state : before?.last;
  const resyncAt = parts.clock.now() + startRetryMs;
  const retryAt = Math.min(resyncAt, waiting.retryAt ?? resyncAt);
  records[name] = {
    restartCount: before?.restartCount ?? 0,
    ...(before?.backOff === undefined ? {} : { backOff: before.backOff }),
    ...(last === undefined ? {} : { last }),
    state: { kind: 'waiting', reason, message, retryAt },
    isStarted: false,
    isReady: false,
  };
  changed();
}

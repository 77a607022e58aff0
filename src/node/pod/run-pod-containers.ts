// The containers of one pod: starts and stops them, runs their probes and hooks, and remembers what became of them.
import type { Container, EphemeralContainer } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { readLogTail } from '../logs/read-logs.ts';
import type { NodeParts } from '../node-parts.ts';
import type { ProbeKind, ProbeResult } from '../probes/probe-state.ts';
import { runProbes } from '../probes/run-probes.ts';
import {
  type ContainerEnd,
  ContainerStartError,
  type RunningContainer,
} from '../runtimes/runtime.ts';
import { imageVolumeProblem, type RefusedImage } from '../volumes/image-volumes.ts';
import { readTerminationMessage } from '../volumes/open-volumes.ts';
import { ContainerConfigError } from './container-config-error.ts';
import { containerTypes, listOf } from './container-lists.ts';
import type { ContainerRecords, Terminated } from './container-record.ts';
import {
  type Containers,
  graceOf,
  type Live,
  messageOf,
  note,
  type PodPlace,
  tell,
} from './live-containers.ts';
import { durationText, nextBackOff, restartLimits } from './restart-policy.ts';
import { logPath, startContainer } from './run-container.ts';
import { runHook } from './run-hook.ts';
import { resizeContainers } from './run-resize.ts';
import { type StopOptions, stopContainer } from './stop-container.ts';

export type PodContainers = {
  readonly records: () => ContainerRecords;
  readonly running: (name: string) => RunningContainer | undefined;
  readonly runningCount: () => number;
  /** Resolves when it runs and its start is over, or when it could not be started, which the record says. */
  readonly start: (container: Container, pod: Pod, place: PodPlace) => Promise<void>;
  /** It ended too often; its status says until when it waits. */
  readonly waits: (container: Container, pod: Pod) => void;
  /** What runs gets the amounts that the pod wants by now. */
  readonly resize: (pod: Pod) => void;
  /** Resolves when it has ended. Fine when it does not run. */
  readonly stop: (container: Container, pod: Pod, wish: StopOptions) => Promise<void>;
  /** What is being started need not be finished: the pod ends. */
  readonly interrupt: () => void;
};

/** A container that cannot be made is tried again after so long, as a kubelet looks at its pods. */
const configRetryMs = 10_000;
export function createPodContainers(
  parts: NodeParts,
  recovered: ContainerRecords,
  changed: () => void,
): PodContainers {
  const all: Containers = {
    parts,
    records: { ...recovered },
    live: new Map(),
    changed,
    interrupted: new AbortController(),
  };
  return {
    records: () => all.records,
    running: (name) => all.live.get(name)?.running,
    runningCount: () => all.live.size,
    start: (container, pod, place) => start(all, container, pod, place),
    waits: (container, pod) => waits(all, container, pod),
    resize: (pod) => resizeContainers(all, pod),
    stop: (container, pod, wish) => stopContainer(all, container, pod, wish),
    interrupt: () => all.interrupted.abort(),
  };
}

async function start(
  all: Containers,
  container: Container,
  pod: Pod,
  place: PodPlace,
): Promise<void> {
  const { parts, records } = all;
  const { name, image = '' } = container;
  const problem = parts.runtime.imageProblem({ image, command: container.command ?? [] });
  const refused = problem === undefined ? imageVolumeProblem(pod, container) : { image, problem };
  if (refused !== undefined) {
    refuseImage(all, container, pod, refused);
    return;
  }
  const before = records[name];
  const last = before?.state.kind === 'terminated' ? before.state : before?.last;
  const attempt = last === undefined ? 0 : (before?.restartCount ?? 0) + 1;
  const type = containerTypes[listOf(pod, container.name)];
  tell(all, pod, container, ['Pulled', `Container image "${image}" already present on machine`]);
  try {
    const target = targetOf(all, container);
    const running = await startContainer({ pod, container, attempt, ...target, ...place }, parts);
    tell(all, pod, container, ['Created', `Created container: ${name}`]);
    tell(all, pod, container, ['Started', `Started container ${name}`]);
    parts.metrics.startedContainers.add({ container_type: type });
    const now = parts.clock.now();
    records[name] = {
      state: { kind: 'running', id: containerId(parts, running.id), startedAt: now },
      ...(last === undefined ? {} : { last }),
      restartCount: attempt,
      isStarted: false,
      isReady: false,
      resources: container.resources,
      ...(last === undefined ? {} : { backOff: nextBackOff(before?.backOff, now) }),
    };
    const live = {
      running,
      place,
      probing: new AbortController(),
      restarting: new AbortController(),
    };
    all.live.set(name, live);
    void running.ended.then((end) => finish(all, container, pod, { live, end, attempt }));
    await begin(all, container, pod, live);
  } catch (error) {
    refuse(all, container, pod, error);
  }
}

/** The container whose processes an ephemeral one shall see. */
function targetOf(
  { live }: Containers,
  { targetContainerName: name }: Partial<EphemeralContainer>,
): { readonly target?: RunningContainer } {
  if (!name) return {};
  const target = live.get(name)?.running;
  if (target === undefined)
    throw new ContainerConfigError(`unable to find target container ${name}`);
  return { target };
}

const containerId = ({ runtime }: NodeParts, id: string): string => `${runtime.name}://${id}`;

/** After the start: the hook first, then the probes. */
async function begin(all: Containers, container: Container, pod: Pod, live: Live): Promise<void> {
  const { parts } = all;
  const podIP = live.place.attachment.ips[0] ?? '';
  const { running, probing } = live;
  const hook = container.lifecycle?.postStart;
  const signal = AbortSignal.any([probing.signal, all.interrupted.signal]);
  try {
    if (hook !== undefined) await runHook(hook, { container, running, podIP }, parts, signal);
  } catch (error) {
    if (signal.aborted) return;
    const message = `PostStartHook failed: ${messageOf(error)}`;
    tell(all, pod, container, ['FailedPostStartHook', message, 'Warning']);
    const graceMs = graceOf(pod) * 1000;
    void stopContainer(all, container, pod, { graceMs, message: 'FailedPostStartHook' });
    return;
  }
  if (container.startupProbe === undefined) {
    note(all, container, { isStarted: true, isReady: container.readinessProbe === undefined });
  }
  const changed = (kind: ProbeKind, result: ProbeResult): void =>
    probed(all, container, pod, { kind, result });
  const restarts = [probing.signal, live.restarting.signal, all.interrupted.signal];
  void runProbes({ pod, container, running, podIP }, parts, {
    changed,
    signal: probing.signal,
    restartSignal: AbortSignal.any(restarts),
  });
}

function probed(
  all: Containers,
  container: Container,
  pod: Pod,
  { kind, result }: { readonly kind: ProbeKind; readonly result: ProbeResult },
): void {
  if (kind === 'readiness') {
    note(all, container, { isReady: result === 'success' });
    return;
  }
  if (result === 'success') {
    if (kind === 'startup') {
      note(all, container, { isStarted: true, isReady: container.readinessProbe === undefined });
    }
    return;
  }
  const probe = kind === 'startup' ? container.startupProbe : container.livenessProbe;
  void stopContainer(all, container, pod, {
    graceMs: (probe?.terminationGracePeriodSeconds ?? graceOf(pod)) * 1000,
    message: `Container ${container.name} failed ${kind} probe, will be restarted`,
  });
}

type Finished = { readonly live: Live; readonly end: ContainerEnd; readonly attempt: number };

function finish(
  all: Containers,
  container: Container,
  pod: Pod,
  { live, end, attempt }: Finished,
): void {
  const { parts, records } = all;
  const { name } = container;
  live.probing.abort();
  all.live.delete(name);
  const record = records[name];
  const state: Terminated = {
    kind: 'terminated',
    id: containerId(parts, live.running.id),
    exitCode: end.exitCode,
    reason: endReason(end),
    message: lastMessage(all, container, pod, { live, end, attempt }),
    ...(record?.state.kind === 'running' ? { startedAt: record.state.startedAt } : {}),
    finishedAt: parts.clock.now(),
  };
  const { isStopping: _over, ...rest } = record ?? { restartCount: attempt };
  records[name] = { ...rest, state, isStarted: false, isReady: false };
  all.changed();
}

function endReason({ exitCode, isOutOfMemory }: ContainerEnd): string {
  if (isOutOfMemory === true) return 'OOMKilled';
  return exitCode === 0 ? 'Completed' : 'Error';
}

function lastMessage(
  { parts }: Containers,
  container: Container,
  pod: Pod,
  { live, end, attempt }: Finished,
): string {
  const words = readTerminationMessage(live.place.directory, container.name, attempt);
  const isFromLog = container.terminationMessagePolicy === 'FallbackToLogsOnError';
  if (words !== '' || !isFromLog || end.exitCode === 0) return words;
  return readLogTail(logPath(parts.dataDirectory, pod, container.name, attempt));
}

function waits(all: Containers, container: Container, pod: Pod): void {
  const { records, parts } = all;
  const record = records[container.name];
  if (record?.state.kind !== 'terminated') return;
  const { name, namespace, uid } = pod.metadata;
  const of = `${name}_${namespace}(${uid})`;
  const wait = durationText(record.backOff?.delayMs ?? restartLimits.firstMs);
  records[container.name] = {
    ...record,
    state: {
      kind: 'waiting',
      reason: 'CrashLoopBackOff',
      message: `back-off ${wait} restarting failed container=${container.name} pod=${of}`,
    },
    last: record.state,
  };
  const message = `Back-off restarting failed container ${container.name} in pod ${of}`;
  tell(all, pod, container, ['BackOff', message, 'Warning']);
  parts.log.debug('container waits to start again', { pod: of, container: container.name, wait });
}

function refuseImage(
  all: Containers,
  container: Container,
  pod: Pod,
  { image, problem }: RefusedImage,
): void {
  const isFirst = all.records[container.name] === undefined;
  if (isFirst) {
    tell(all, pod, container, ['Failed', `Failed to pull image "${image}": ${problem}`, 'Warning']);
    tell(all, pod, container, ['Failed', 'Error: ErrImagePull', 'Warning']);
    wait(all, container, 'ErrImagePull', problem);
    return;
  }
  tell(all, pod, container, ['BackOff', `Back-off pulling image "${image}"`]);
  wait(
    all,
    container,
    'ImagePullBackOff',
    `Back-off pulling image "${image}": ErrImagePull: ${problem}`,
  );
}

function refuse(all: Containers, container: Container, pod: Pod, error: unknown): void {
  const type = containerTypes[listOf(pod, container.name)];
  const reason =
    error instanceof ContainerStartError
      ? error.reason
      : error instanceof ContainerConfigError
        ? 'CreateContainerConfigError'
        : 'CreateContainerError';
  all.parts.metrics.startErrors.add({ container_type: type, code: reason });
  tell(all, pod, container, ['Failed', `Error: ${messageOf(error)}`, 'Warning']);
  wait(all, container, reason, messageOf(error));
}

function wait(
  { records, parts, changed }: Containers,
  { name }: Container,
  reason: string,
  message: string,
): void {
  const before = records[name];
  const last = before?.state.kind === 'terminated' ? before.state : before?.last;
  const retryAt = parts.clock.now() + configRetryMs;
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

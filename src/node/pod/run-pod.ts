// The worker of one pod, from its assignment to the node to its termination: network, volumes, containers and status.
import { join } from 'node:path';
import { backOffMs } from '../../client/back-off.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { beginWork, endWork, type WorkDescription } from '../../observe/current-work.ts';
import { parseTime } from '../../schema/time.ts';
import type { PodAttachment } from '../network/pod-network.ts';
import type { NodeParts } from '../node-parts.ts';
import { podStatus } from '../status/pod-status.ts';
import {
  createPodVolumes,
  exceededStorage,
  type PodVolumes,
  removePodFiles,
  removePodVolumes,
  unmountPodMemory,
  VolumeError,
} from '../volumes/run-volumes.ts';
import { storageLimits } from '../volumes/storage-limits.ts';
import { graceOf } from './active-containers.ts';
import { planPod } from './desired.ts';
import { podRefusal } from './pod-admission.ts';
import { interruptedRecords, recoverRecords } from './restart-records.ts';
import { createPodContainers, type PodContainers } from './run-pod-containers.ts';
import { minGraceMs, stopOrder, waitForRelease } from './stop-container.ts';
import { createWakeUp, type WakeUp } from './wake-up.ts';

export type PodWorker = {
  readonly pod: () => Pod;
  readonly update: (pod: Pod) => void;
  /** The object has been deleted: its containers are killed. */
  readonly remove: () => void;
  readonly containers: PodContainers;
  readonly hasNetwork: () => boolean;
  /** Undefined before the pod has its network, and after. */
  readonly attachment: () => PodAttachment | undefined;
  /** Resolves when nothing of the pod is left on the node. */
  readonly ended: Promise<void>;
};

type End = { readonly reason: string; readonly message: string };

type Working = {
  readonly parts: NodeParts;
  readonly wakeUp: WakeUp;
  readonly directory: string;
  readonly volumes: PodVolumes;
  readonly containers: PodContainers;
  readonly startedAt: number;
  /** Ends the grace period early. */
  readonly skipGrace: AbortController;
  pod: Pod;
  attachment?: PodAttachment;
  /** Stay in the status after the network has been released. */
  ips: readonly string[];
  reported?: PodStatus;
  isDeleted: boolean;
  /** Its containers have been stopped for good. */
  isTerminal: boolean;
  end?: End;
  failures: number;
  nextRefreshAt: number;
  nextStorageCheckAt: number;
};

/** How often volumes from API objects are refreshed, as in the kubelet. */
const refreshMs = 60_000;
/** How often the disk usage of a pod is measured, as in the kubelet. */
const storageCheckMs = 10_000;
/** A pod that fills the disk does not get its full grace period. */
const evictionGraceSeconds = 1;
const setupLimits = { firstMs: 500, maxMs: 122_000 };

export function startPodWorker(pod: Pod, parts: NodeParts, signal: AbortSignal): PodWorker {
  const wakeUp = createWakeUp();
  const directory = join(parts.dataDirectory, 'pods', pod.metadata.uid ?? '');
  const containers = createPodContainers(
    parts,
    recoverRecords(pod, parts.clock.now()),
    wakeUp.wake,
  );
  const working: Working = {
    parts,
    wakeUp,
    directory,
    volumes: createPodVolumes(parts, join(directory, 'volumes')),
    containers,
    startedAt: parts.clock.now(),
    skipGrace: new AbortController(),
    pod,
    ips: isPodFinished(pod) ? (pod.status.podIPs ?? []).map(({ ip }) => ip) : [],
    isDeleted: false,
    isTerminal: isPodFinished(pod),
    failures: 0,
    nextRefreshAt: 0,
    nextStorageCheckAt: 0,
  };
  const end = (): void => {
    containers.interrupt();
    wakeUp.wake();
  };
  const ended = run(working, signal);
  const onShutdown = (): void => {
    end();
    // Also for a pod that is terminating with a longer grace period.
    const cancel = parts.clock.after(parts.shutdownGraceMs, () => working.skipGrace.abort());
    void ended.then(cancel, cancel);
  };
  signal.addEventListener('abort', onShutdown, { once: true });
  return {
    pod: () => working.pod,
    update(after) {
      shortenGrace(working, after);
      working.pod = after;
      if (after.metadata.deletionTimestamp !== undefined) containers.interrupt();
      wakeUp.wake();
    },
    remove() {
      working.isDeleted = true;
      working.skipGrace.abort();
      end();
    },
    containers,
    hasNetwork: () => working.attachment !== undefined,
    attachment: () => working.attachment,
    ended,
  };
}

/** A second delete may have a shorter grace period than the first. */
function shortenGrace({ pod, parts, skipGrace }: Working, after: Pod): void {
  const before = pod.metadata.deletionGracePeriodSeconds;
  const now = after.metadata.deletionGracePeriodSeconds;
  if (before === undefined || now === undefined || now >= before) return;
  parts.clock.after(now * 1000, () => skipGrace.abort());
}

async function run(working: Working, signal: AbortSignal): Promise<void> {
  const { parts, wakeUp } = working;
  let until: number | undefined;
  for (;;) {
    await wakeUp.sleep(until, parts);
    // The agent shuts down: containers are stopped, and the next run of the agent starts them again.
    if (signal.aborted) return shutDown(working);
    const begun = beginWork(working, describeWork);
    try {
      if (await terminateIfDeleted(working)) return;
      until = await syncPod(working);
      working.failures = 0;
    } catch (error) {
      until = parts.clock.now() + backOffMs(setupLimits, working.failures);
      working.failures += 1;
      reportFailure(working, error);
      report(working);
    } finally {
      endWork(begun);
    }
  }
}

function describeWork({ pod: { metadata } }: Working): WorkDescription {
  return { kind: 'pod', key: `${metadata.namespace}/${metadata.name}` };
}

/** Whether the pod was to be terminated, and is. */
async function terminateIfDeleted(working: Working): Promise<boolean> {
  const { pod, parts, isDeleted } = working;
  if (!isDeleted && pod.metadata.deletionTimestamp === undefined) return false;
  await endContainers(working, isDeleted ? 0 : graceSeconds(pod));
  report(working);
  await releaseNetwork(working);
  parts.runtime.endPod(pod.metadata.uid ?? '');
  await removePodFiles(working.directory);
  if (!isDeleted) {
    await parts.reported(pod.metadata.uid ?? '');
    await parts.finishDeletion(working.pod);
  }
  return true;
}

const graceSeconds = (pod: Pod): number => pod.metadata.deletionGracePeriodSeconds ?? graceOf(pod);

async function shutDown(working: Working): Promise<void> {
  const { parts, containers } = working;
  const before = { ...containers.records() };
  await stopContainers(working, parts.shutdownGraceMs / 1000);
  if (!working.isTerminal) report(working, interruptedRecords(before, containers.records()));
  await releaseNetwork(working);
  parts.runtime.endPod(working.pod.metadata.uid ?? '');
  unmountPodMemory(working.directory);
}

async function releaseNetwork(working: Working): Promise<void> {
  await working.parts.network.removePod(working.pod.metadata.uid ?? '');
  delete working.attachment;
}

/** For good: no container restarts. */
async function endContainers(working: Working, grace: number): Promise<void> {
  await whileReporting(working, stopContainers(working, grace));
  working.isTerminal = true;
}

/** Reports the pod's status, such as results of readiness probes, while its containers stop. */
async function whileReporting(working: Working, stopping: Promise<void>): Promise<void> {
  const { wakeUp, parts } = working;
  let isStopped = false;
  const stopped = stopping.finally(() => {
    isStopped = true;
    wakeUp.wake();
  });
  // Awaited below, after it may have rejected.
  stopped.catch(() => undefined);
  while (!isStopped) {
    await wakeUp.sleep(undefined, parts);
    report(working);
  }
  // Another change may have woken it too.
  wakeUp.wake();
  await stopped;
}

async function stopContainers(working: Working, grace: number): Promise<void> {
  const { pod, parts, containers, skipGrace } = working;
  const maxMs = grace * 1000;
  const deadline = parts.clock.now() + maxMs;
  if (containers.runningCount() > 0 && grace > 0)
    await waitForRelease(pod, parts, { maxMs, skipGrace: skipGrace.signal });
  for (const group of stopOrder(pod)) {
    // Whatever came before, a container gets a moment for its SIGTERM, as in the kubelet.
    const graceMs = Math.max(deadline - parts.clock.now(), grace > 0 ? minGraceMs : 0);
    await Promise.all(
      group.map((container) =>
        containers.stop(container, pod, {
          graceMs,
          message: `Stopping container ${container.name}`,
          skipGrace: skipGrace.signal,
        }),
      ),
    );
  }
}

/** Returns when to sync again. */
async function syncPod(working: Working): Promise<number | undefined> {
  const { parts, pod, containers } = working;
  if (working.isTerminal) {
    report(working);
    return undefined;
  }
  const deadline = deadlineOf(working);
  if (deadline !== undefined && deadline <= parts.clock.now()) return failForDeadline(working);
  const refusal = podRefusal(pod);
  if (refusal !== undefined) return failPod(working, refusal, 'Warning');
  if (isWaitingForNetwork(working)) return deadline;
  const exceeded = await checkStorage(working);
  if (exceeded !== undefined) return evict(working, exceeded);
  await prepare(working);
  const plan = planPod({ pod, records: containers.records(), now: parts.clock.now() });
  if (plan.isFinished) {
    await endContainers(working, graceSeconds(pod));
    report(working);
    await releaseNetwork(working);
    return undefined;
  }
  for (const { container } of plan.waiting) containers.backOff(container, pod);
  containers.resize(pod);
  report(working);
  const { attachment, volumes, directory } = working;
  if (attachment === undefined) return undefined;
  for (const container of plan.start) {
    await containers.start(container, pod, { attachment, volumes, directory });
    report(working);
  }
  const next = [
    ...plan.waiting.map(({ until }) => until),
    ...(deadline === undefined ? [] : [deadline]),
  ];
  return Math.min(...next, working.nextRefreshAt, working.nextStorageCheckAt);
}

function deadlineOf({ pod, startedAt, reported }: Working): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const start = parseTime(reported?.startTime ?? pod.status.startTime ?? '') ?? startedAt;
  return start + activeDeadlineSeconds * 1000;
}

function failForDeadline(working: Working): Promise<undefined> {
  const message = 'Pod was active on the node longer than the specified deadline';
  return failPod(working, { reason: 'DeadlineExceeded', message }, 'Normal');
}

/** The limit that the pod exceeds; undefined: none, or the disk was measured recently. */
async function checkStorage(working: Working): Promise<string | undefined> {
  const { parts, pod, directory } = working;
  if (storageLimits(pod).length === 0) {
    working.nextStorageCheckAt = Number.POSITIVE_INFINITY;
    return undefined;
  }
  if (working.nextStorageCheckAt > parts.clock.now()) return undefined;
  const exceeded = await exceededStorage(pod, directory);
  working.nextStorageCheckAt = parts.clock.now() + storageCheckMs;
  return exceeded;
}

/** Removes its volumes, because the object may stay for long. */
async function evict(working: Working, message: string): Promise<undefined> {
  const grace = Math.min(evictionGraceSeconds, graceSeconds(working.pod));
  await failPod(working, { reason: 'Evicted', message }, 'Warning', grace);
  await removePodVolumes(working.directory);
}

/** The pod has failed, whatever its containers' exit codes. */
async function failPod(
  working: Working,
  end: End,
  type: 'Normal' | 'Warning',
  grace = graceSeconds(working.pod),
): Promise<undefined> {
  const { parts, pod } = working;
  working.end = end;
  parts.events.record(pod, { type, ...end });
  await endContainers(working, grace);
  report(working);
}

/** The worker is woken when the network is ready. */
function isWaitingForNetwork(working: Working): boolean {
  const { parts, pod, attachment } = working;
  const problem = parts.network.problem();
  if (problem === undefined || attachment !== undefined || pod.spec.hostNetwork === true) {
    return false;
  }
  const message = `network is not ready: ${problem}`;
  parts.events.record(pod, { type: 'Warning', reason: 'NetworkNotReady', message });
  report(working);
  return true;
}

/** Network and volumes, which the containers need. */
async function prepare(working: Working): Promise<void> {
  const { parts, pod, volumes } = working;
  if (working.attachment === undefined) {
    report(working);
    working.attachment = await parts.network.addPod(pod);
    working.ips = working.attachment.ips;
    parts.metrics.startedPods.add();
  }
  const now = parts.clock.now();
  if (now < working.nextRefreshAt) return;
  await volumes.prepare(pod, working.attachment.ips);
  working.nextRefreshAt = now + refreshMs;
}

function reportFailure({ parts, pod, attachment }: Working, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const isMountFailure = attachment !== undefined || error instanceof VolumeError;
  parts.events.record(pod, {
    type: 'Warning',
    reason: isMountFailure ? 'FailedMount' : 'FailedCreatePodSandBox',
    message: isMountFailure ? message : `Failed to create pod sandbox: ${message}`,
  });
  parts.log.debug('Failed to sync pod, retrying', {
    pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
    error: message,
  });
}

function report(working: Working, records = working.containers.records()): void {
  // There is no object any more that could have a status.
  if (working.isDeleted) return;
  const { parts, pod, ips, startedAt, isTerminal, end, reported } = working;
  const status = podStatus({
    pod,
    records,
    before: knownStatus(pod.status, reported),
    addresses: { podIPs: ips, hostIPs: parts.nodeIPs },
    startedAt,
    now: parts.clock.now(),
    isTerminal: isTerminal,
    ...(end === undefined ? {} : { end }),
  });
  working.reported = status;
  parts.report(pod, status);
}

/** The status that was reported last, with conditions of other writers. */
function knownStatus(stored: PodStatus, reported: PodStatus | undefined): PodStatus {
  if (reported === undefined) return stored;
  const own = new Set(reported.conditions?.map(({ type }) => type));
  const others = stored.conditions?.filter(({ type }) => !own.has(type)) ?? [];
  return { ...reported, conditions: [...(reported.conditions ?? []), ...others] };
}

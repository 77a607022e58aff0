// One pod from its arrival on the node to its end: network, volumes, containers, and what is told of it.
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
import { planPod } from './desired.ts';
import { interruptedRecords } from './interrupted-records.ts';
import { graceOf } from './live-containers.ts';
import { podRefusal } from './pod-refusal.ts';
import { recoverRecords } from './recovered-records.ts';
import { createPodContainers, type PodContainers } from './run-pod-containers.ts';
import { createWakeUp, type WakeUp } from './run-wake-up.ts';
import { minGraceMs, stopOrder, waitForRelease } from './stop-container.ts';

export type PodWorker = {
  readonly pod: () => Pod;
  readonly update: (pod: Pod) => void;
  /** The object is gone: what runs ends at once. */
  readonly remove: () => void;
  readonly containers: PodContainers;
  readonly hasNetwork: () => boolean;
  /** Absent before it has its network, and after. */
  readonly attachment: () => PodAttachment | undefined;
  /** Resolves when nothing of the pod is left here. */
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
  /** Cuts the grace short. */
  readonly hurry: AbortController;
  pod: Pod;
  attachment?: PodAttachment;
  /** Kept when the network is given back: people still want to know. */
  ips: readonly string[];
  reported?: PodStatus;
  isGone: boolean;
  /** Its containers have been ended for good. */
  isOver: boolean;
  end?: End;
  failures: number;
  nextRefreshAt: number;
  nextMeasureAt: number;
};

/** How often files made from API objects are compared with them, as a kubelet does. */
const refreshMs = 60_000;
/** How often the disk that a pod uses is measured, as a kubelet does. */
const measureMs = 10_000;
/** A pod that fills the disk does not get the time that it would like. */
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
    hurry: new AbortController(),
    pod,
    ips: isPodFinished(pod) ? (pod.status.podIPs ?? []).map(({ ip }) => ip) : [],
    isGone: false,
    isOver: isPodFinished(pod),
    failures: 0,
    nextRefreshAt: 0,
    nextMeasureAt: 0,
  };
  const end = (): void => {
    containers.interrupt();
    wakeUp.wake();
  };
  const ended = run(working, signal);
  const leaveNow = (): void => {
    end();
    // Also of a pod that is being deleted, whatever grace it was promised.
    const cancel = parts.clock.after(parts.shutdownGraceMs, () => working.hurry.abort());
    void ended.catch(() => undefined).finally(cancel);
  };
  signal.addEventListener('abort', leaveNow, { once: true });
  return {
    pod: () => working.pod,
    update(after) {
      hurryUp(working, after);
      working.pod = after;
      if (after.metadata.deletionTimestamp !== undefined) containers.interrupt();
      wakeUp.wake();
    },
    remove() {
      working.isGone = true;
      working.hurry.abort();
      end();
    },
    containers,
    hasNetwork: () => working.attachment !== undefined,
    attachment: () => working.attachment,
    ended,
  };
}

/** A second delete may grant less time than the first. */
function hurryUp({ pod, parts, hurry }: Working, after: Pod): void {
  const before = pod.metadata.deletionGracePeriodSeconds;
  const now = after.metadata.deletionGracePeriodSeconds;
  if (before === undefined || now === undefined || now >= before) return;
  parts.clock.after(now * 1000, () => hurry.abort());
}

async function run(working: Working, signal: AbortSignal): Promise<void> {
  const { parts, wakeUp } = working;
  let until: number | undefined;
  for (;;) {
    await wakeUp.sleep(until, parts);
    // The agent ends: what runs ends with it, and the pods stay for the next run, which starts them again.
    if (signal.aborted) return leave(working);
    const begun = beginWork(working, describeWork);
    try {
      if (await isDone(working)) return;
      until = await step(working);
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

/** Whether the pod has to go, and is gone. */
async function isDone(working: Working): Promise<boolean> {
  const { pod, parts, isGone } = working;
  if (!isGone && pod.metadata.deletionTimestamp === undefined) return false;
  await endContainers(working, isGone ? 0 : graceSeconds(pod));
  report(working);
  await releaseNetwork(working);
  parts.runtime.endPod(pod.metadata.uid ?? '');
  await removePodFiles(working.directory);
  if (!isGone) {
    await parts.reported(pod.metadata.uid ?? '');
    await parts.finishDeletion(working.pod);
  }
  return true;
}

const graceSeconds = (pod: Pod): number => pod.metadata.deletionGracePeriodSeconds ?? graceOf(pod);

async function leave(working: Working): Promise<void> {
  const { parts, containers } = working;
  const before = { ...containers.records() };
  await stopContainers(working, parts.shutdownGraceMs / 1000);
  if (!working.isOver) report(working, interruptedRecords(before, containers.records()));
  await releaseNetwork(working);
  parts.runtime.endPod(working.pod.metadata.uid ?? '');
  unmountPodMemory(working.directory);
}

async function releaseNetwork(working: Working): Promise<void> {
  await working.parts.network.removePod(working.pod.metadata.uid ?? '');
  delete working.attachment;
}

/** For good: nothing of the pod starts again. */
async function endContainers(working: Working, grace: number): Promise<void> {
  await whileReporting(working, stopContainers(working, grace));
  working.isOver = true;
}

/** Containers that end take their time, and what their readiness probes find meanwhile is told at once. */
async function whileReporting(working: Working, stopping: Promise<void>): Promise<void> {
  const { wakeUp, parts } = working;
  let isStopped = false;
  const stopped = stopping.finally(() => {
    isStopped = true;
    wakeUp.wake();
  });
  stopped.catch(() => undefined);
  while (!isStopped) {
    await wakeUp.sleep(undefined, parts);
    report(working);
  }
  // Whatever else woke it is still to be seen to.
  wakeUp.wake();
  await stopped;
}

async function stopContainers(working: Working, grace: number): Promise<void> {
  const { pod, parts, containers, hurry } = working;
  const maxMs = grace * 1000;
  const deadline = parts.clock.now() + maxMs;
  if (containers.runningCount() > 0 && grace > 0)
    await waitForRelease(pod, parts, { maxMs, hurry: hurry.signal });
  for (const together of stopOrder(pod)) {
    // Whatever came before, a container gets a moment for its SIGTERM, as kubelet has it.
    const graceMs = Math.max(deadline - parts.clock.now(), grace > 0 ? minGraceMs : 0);
    await Promise.all(
      together.map((container) =>
        containers.stop(container, pod, {
          graceMs,
          message: `Stopping container ${container.name}`,
          hurry: hurry.signal,
        }),
      ),
    );
  }
}

/** Returns when to look again. */
async function step(working: Working): Promise<number | undefined> {
  const { parts, pod, containers } = working;
  if (working.isOver) {
    report(working);
    return undefined;
  }
  const deadline = deadlineOf(working);
  if (deadline !== undefined && deadline <= parts.clock.now()) return endForDeadline(working);
  const refusal = podRefusal(pod);
  if (refusal !== undefined) return endBecause(working, refusal, 'Warning');
  if (hasToWaitForNetwork(working)) return deadline;
  const exceeded = await measure(working);
  if (exceeded !== undefined) return evict(working, exceeded);
  await prepare(working);
  const plan = planPod({ pod, records: containers.records(), now: parts.clock.now() });
  if (plan.isFinished) {
    await endContainers(working, graceSeconds(pod));
    report(working);
    await releaseNetwork(working);
    return undefined;
  }
  for (const { container } of plan.waiting) containers.waits(container, pod);
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
  return Math.min(...next, working.nextRefreshAt, working.nextMeasureAt);
}

function deadlineOf({ pod, startedAt, reported }: Working): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const start = parseTime(reported?.startTime ?? pod.status.startTime ?? '') ?? startedAt;
  return start + activeDeadlineSeconds * 1000;
}

function endForDeadline(working: Working): Promise<undefined> {
  const message = 'Pod was active on the node longer than the specified deadline';
  return endBecause(working, { reason: 'DeadlineExceeded', message }, 'Normal');
}

/** Why the pod has to go; undefined: it keeps within its limits, or was measured a moment ago. */
async function measure(working: Working): Promise<string | undefined> {
  const { parts, pod, directory } = working;
  if (storageLimits(pod).length === 0) {
    working.nextMeasureAt = Number.POSITIVE_INFINITY;
    return undefined;
  }
  if (working.nextMeasureAt > parts.clock.now()) return undefined;
  const exceeded = await exceededStorage(pod, directory);
  working.nextMeasureAt = parts.clock.now() + measureMs;
  return exceeded;
}

/** What it kept goes with it: its object may stay for long. */
async function evict(working: Working, message: string): Promise<undefined> {
  const grace = Math.min(evictionGraceSeconds, graceSeconds(working.pod));
  await endBecause(working, { reason: 'Evicted', message }, 'Warning', grace);
  await removePodVolumes(working.directory);
}

/** The pod has failed, whatever its containers say. */
async function endBecause(
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

/** It is woken when the network is there. */
function hasToWaitForNetwork(working: Working): boolean {
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

/** What the pod needs before and while its containers run. */
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
  const isMount = attachment !== undefined || error instanceof VolumeError;
  parts.events.record(pod, {
    type: 'Warning',
    reason: isMount ? 'FailedMount' : 'FailedCreatePodSandBox',
    message: isMount ? message : `Failed to create pod sandbox: ${message}`,
  });
  parts.log.debug('pod cannot go on yet', {
    pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
    error: message,
  });
}

function report(working: Working, records = working.containers.records()): void {
  const { parts, pod, ips, startedAt, isOver, end, reported } = working;
  const status = podStatus({
    pod,
    records,
    before: known(pod.status, reported),
    addresses: { podIPs: ips, hostIPs: parts.nodeIPs },
    startedAt,
    now: parts.clock.now(),
    isTerminal: isOver,
    ...(end === undefined ? {} : { end }),
  });
  working.reported = status;
  parts.report(pod, status);
}

/** What we said last, and what others say that we do not. */
function known(stored: PodStatus, reported: PodStatus | undefined): PodStatus {
  if (reported === undefined) return stored;
  const own = new Set(reported.conditions?.map(({ type }) => type));
  const others = stored.conditions?.filter(({ type }) => !own.has(type)) ?? [];
  return { ...reported, conditions: [...(reported.conditions ?? []), ...others] };
}

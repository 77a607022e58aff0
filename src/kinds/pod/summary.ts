// Summarizes a pod's status as a reason and three counts, for tables. Equals printPod() of upstream's
// pkg/printers/internalversion/printers.go, because people and scripts know its output.
import type { ContainerState, ContainerStatus } from './pod-status.ts';
import { isRestartableInitContainer } from './ports.ts';
import { isPodFinished, podCondition } from './readiness.ts';
import type { Pod } from './types.ts';

export type PodSummary = {
  readonly ready: number;
  /** Containers and sidecars. */
  readonly containers: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a container was last restarted; empty when none was. */
  readonly lastRestart: string;
};

export function summarizePod(pod: Pod): PodSummary {
  const sidecars = new Set(
    (pod.spec.initContainers ?? []).filter(isRestartableInitContainer).map((c) => c.name),
  );
  const containers = (pod.spec.containers ?? []).length + sidecars.size;
  const start = summarizeStart(pod, sidecars);
  const initialized = podCondition(pod, 'Initialized')?.status === 'True';
  const { ready, reason, restarts, lastRestart } =
    start.initializing && !initialized ? start : summarizeRunning(pod, start, sidecars);
  return { ready, containers, reason: deletionReason(pod) ?? reason, restarts, lastRestart };
}

type Progress = Omit<PodSummary, 'containers'>;
type Start = Progress & {
  readonly initializing: boolean;
  /** Init containers up to the first that has not finished: later ones do not count. */
  readonly reached: readonly ContainerStatus[];
};

/** Progress of the init containers. */
function summarizeStart(pod: Pod, sidecars: ReadonlySet<string>): Start {
  const statuses = pod.status.initContainerStatuses ?? [];
  const count = (pod.spec.initContainers ?? []).length;
  let ready = 0;
  for (const [index, status] of statuses.entries()) {
    if (status.state.terminated?.exitCode === 0) continue;
    if (sidecars.has(status.name) && status.started === true) {
      if (status.ready) ready += 1;
      continue;
    }
    const reached = statuses.slice(0, index + 1);
    const reason = `Init:${waitReason(status.state) ?? `${index}/${count}`}`;
    return { ready, reason, initializing: true, reached, ...countRestarts(reached) };
  }
  const reason = phaseReason(pod);
  return { ready, reason, initializing: false, reached: statuses, ...countRestarts(statuses) };
}

/** Why an init container has not completed; undefined while it is running normally. */
function waitReason({ terminated, waiting }: ContainerState): string | undefined {
  if (terminated !== undefined) return terminated.reason || endReason(terminated);
  return waiting?.reason && waiting.reason !== 'PodInitializing' ? waiting.reason : undefined;
}

function summarizeRunning(pod: Pod, start: Start, sidecars: ReadonlySet<string>): Progress {
  const statuses = pod.status.containerStatuses ?? [];
  const running = statuses.filter((status) => isRunning(status));
  // The first container with a reason determines it.
  const firstReason = statuses
    .map((status) => stateReason(status.state))
    .find((reason) => reason !== '');
  const reason = firstReason ?? start.reason;
  const started = start.reached.filter(({ name }) => sidecars.has(name));
  return {
    ready: start.ready + running.length,
    reason: reason === 'Completed' && running.length > 0 ? stillRunning(pod) : reason,
    ...countRestarts([...started, ...statuses]),
  };
}

const stillRunning = (pod: Pod): string =>
  podCondition(pod, 'Ready')?.status === 'True' ? 'Running' : 'NotReady';

function isRunning({ ready, state }: ContainerStatus): boolean {
  return ready && state.running !== undefined && stateReason(state) === '';
}

function stateReason({ waiting, terminated }: ContainerState): string {
  if (waiting?.reason) return waiting.reason;
  return terminated === undefined ? '' : terminated.reason || endReason(terminated);
}

function endReason({ signal, exitCode }: { signal?: number; exitCode: number }): string {
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function phaseReason(pod: Pod): string {
  if (podCondition(pod, 'PodScheduled')?.reason === 'SchedulingGated') return 'SchedulingGated';
  return pod.status.reason || (pod.status.phase ?? '');
}

/** A pod that is being deleted shows that instead of its containers' state. */
function deletionReason(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (pod.status.reason === 'NodeLost') return 'Unknown';
  return isPodFinished(pod) ? undefined : 'Terminating';
}

function countRestarts(
  statuses: readonly ContainerStatus[],
): Pick<PodSummary, 'restarts' | 'lastRestart'> {
  let restarts = 0;
  let lastRestart = '';
  for (const { restartCount, lastState } of statuses) {
    restarts += restartCount;
    const ended = lastState.terminated?.finishedAt ?? '';
    if (ended > lastRestart) lastRestart = ended;
  }
  return { restarts, lastRestart };
}

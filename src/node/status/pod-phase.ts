// The phase of a pod, from the states of its containers. Upstream: kubelet_pods.go, getPhase.
import type { ContainerStatus } from '../../kinds/pod/pod-status.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type PhaseOptions = {
  readonly pod: Pod;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** No container restarts. */
  readonly isTerminal: boolean;
};

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export function podPhase(options: PhaseOptions): Phase {
  const { pod, statuses, isTerminal } = options;
  if (failedInits(options) > 0 && (pod.spec.restartPolicy === 'Never' || isTerminal))
    return 'Failed';
  const started = statuses.filter(hasStarted);
  const isComplete = started.length === statuses.length && started.length > 0;
  if (!isComplete) return isTerminal ? 'Failed' : 'Pending';
  if (started.some(({ state }) => state.running !== undefined)) return 'Running';
  return stoppedPhase(options);
}

const hasStarted = ({ state, lastState }: ContainerStatus): boolean =>
  state.waiting === undefined || lastState.terminated !== undefined;

/** Of a pod whose containers have all started, and none is running. */
function stoppedPhase({ pod, statuses, isTerminal }: PhaseOptions): Phase {
  const { restartPolicy = 'Always' } = pod.spec;
  if (!isTerminal && restartPolicy === 'Always') return 'Running';
  if (statuses.every(({ state }) => state.terminated?.exitCode === 0)) return 'Succeeded';
  return isTerminal || restartPolicy === 'Never' ? 'Failed' : 'Running';
}

/** Init containers that failed. Those that have not run yet show in the containers, which have not started. */
function failedInits({ pod, initStatuses }: PhaseOptions): number {
  return (pod.spec.initContainers ?? []).filter((container) => {
    const status = initStatuses.find(({ name }) => name === container.name);
    const ended = status?.state.terminated ?? status?.lastState.terminated;
    return !isRestartableInitContainer(container) && (ended?.exitCode ?? 0) !== 0;
  }).length;
}

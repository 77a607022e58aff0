// The conditions of a pod that the node agent owns. Upstream: pkg/kubelet/status/generate.go.
import { judgedPodCondition } from '../../kinds/pod/conditions.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { ContainerStatus, PodCondition, PodStatus } from '../../kinds/pod/pod-status.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';

export type ConditionOptions = {
  readonly pod: Pod;
  readonly phase: string;
  readonly initStatuses: readonly ContainerStatus[];
  readonly statuses: readonly ContainerStatus[];
  /** Why resizes of containers failed. */
  readonly resizeProblems: readonly string[];
  /** The pod has its network. */
  readonly hasNetwork: boolean;
  /** Previous conditions; those of other writers count for readiness gates. */
  readonly before: PodStatus['conditions'];
  /** RFC 3339. */
  readonly now: string;
};

type ConditionState = {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
};

const isTrue: ConditionState = { status: 'True' };

export function podConditions(options: ConditionOptions): readonly PodCondition[] {
  const ready = containersReady(options);
  const states: readonly (readonly [string, ConditionState])[] = [
    ['PodReadyToStartContainers', options.hasNetwork ? isTrue : { status: 'False' }],
    ['Initialized', initialized(options)],
    ['Ready', podReady(options, ready)],
    ['ContainersReady', ready],
    ['PodScheduled', isTrue],
    ...(options.resizeProblems.length === 0
      ? []
      : [[resizeCondition, resizing(options.resizeProblems)] as const]),
  ];
  return states.map(([type, condition]) => toCondition(options, type, condition));
}

/** Present only while a resize fails: others take effect immediately. */
export const resizeCondition = 'PodResizeInProgress';

const resizing = (problems: readonly string[]): ConditionState => ({
  status: 'True',
  reason: 'Error',
  message: problems.join(', '),
});

function toCondition(
  { pod, before, now }: ConditionOptions,
  type: string,
  states: ConditionState,
): PodCondition {
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return judgedPodCondition(before, { type, ...observed, ...states }, now);
}

function initialized({ pod, phase, initStatuses, statuses }: ConditionOptions): ConditionState {
  const containers = pod.spec.initContainers ?? [];
  // Once a container has started, the init containers no longer matter.
  if (
    statuses.some(({ state, lastState }) => state.waiting === undefined || lastState.terminated)
  ) {
    return phase === 'Succeeded' ? { status: 'True', reason: 'PodCompleted' } : isTrue;
  }
  const incomplete = containers.filter((container) => {
    const status = statusOf(initStatuses, container);
    return isRestartableInitContainer(container)
      ? status?.started !== true
      : status?.ready !== true;
  });
  if (incomplete.length === 0) return isTrue;
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${names(incomplete)}]`,
  };
}

function containersReady({ pod, phase, initStatuses, statuses }: ConditionOptions): ConditionState {
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer);
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const all = [...initStatuses, ...statuses];
  const unready = [...sidecars, ...(pod.spec.containers ?? [])].filter(
    (container) => statusOf(all, container)?.ready !== true,
  );
  if (unready.length === 0) return isTrue;
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${names(unready)}]`,
  };
}

function podReady({ pod, before = [] }: ConditionOptions, ready: ConditionState): ConditionState {
  if (ready.status !== 'True') return ready;
  const problems = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = JSON.stringify(conditionType);
    const found = before.find(({ type }) => type === conditionType);
    if (found === undefined) {
      return [`corresponding condition of pod readiness gate ${gate} does not exist.`];
    }
    if (found.status === 'True') return [];
    return [`the status of pod readiness gate ${gate} is not "True", but ${found.status}`];
  });
  if (problems.length === 0) return isTrue;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function statusOf(statuses: readonly ContainerStatus[], { name }: Container) {
  return statuses.find((status) => status.name === name);
}

const names = (containers: readonly Container[]): string => containers.map((c) => c.name).join(' ');

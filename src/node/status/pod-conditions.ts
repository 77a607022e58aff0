// The conditions that a node says of a pod. Upstream: pkg/kubelet/status/generate.go.
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
  /** Why containers are not held to the amounts that the pod wants. */
  readonly resizeProblems: readonly string[];
  /** The pod has its network. */
  readonly hasNetwork: boolean;
  /** Conditions as they were; others than ours count for readiness gates. */
  readonly before: PodStatus['conditions'];
  /** RFC 3339. */
  readonly now: string;
};

type Judged = {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
};

const yes: Judged = { status: 'True' };

export function podConditions(options: ConditionOptions): readonly PodCondition[] {
  const ready = containersReady(options);
  const judged: readonly (readonly [string, Judged])[] = [
    ['PodReadyToStartContainers', options.hasNetwork ? yes : { status: 'False' }],
    ['Initialized', initialized(options)],
    ['Ready', podReady(options, ready)],
    ['ContainersReady', ready],
    ['PodScheduled', yes],
    ...(options.resizeProblems.length === 0
      ? []
      : [[resizeCondition, resizing(options.resizeProblems)] as const]),
  ];
  return judged.map(([type, condition]) => written(options, type, condition));
}

/** There only while something is wrong: what can be done is done at once. */
export const resizeCondition = 'PodResizeInProgress';

const resizing = (problems: readonly string[]): Judged => ({
  status: 'True',
  reason: 'Error',
  message: problems.join(', '),
});

function written(
  { pod, before, now }: ConditionOptions,
  type: string,
  judged: Judged,
): PodCondition {
  const { generation } = pod.metadata;
  const of = generation === undefined ? {} : { observedGeneration: generation };
  return judgedPodCondition(before, { type, ...of, ...judged }, now);
}

function initialized({ pod, phase, initStatuses, statuses }: ConditionOptions): Judged {
  const containers = pod.spec.initContainers ?? [];
  // Once a container runs, what the init containers became no longer matters.
  if (
    statuses.some(({ state, lastState }) => state.waiting === undefined || lastState.terminated)
  ) {
    return phase === 'Succeeded' ? { status: 'True', reason: 'PodCompleted' } : yes;
  }
  const incomplete = containers.filter((container) => {
    const status = statusOf(initStatuses, container);
    return isRestartableInitContainer(container)
      ? status?.started !== true
      : status?.ready !== true;
  });
  if (incomplete.length === 0) return yes;
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${names(incomplete)}]`,
  };
}

function containersReady({ pod, phase, initStatuses, statuses }: ConditionOptions): Judged {
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer);
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const all = [...initStatuses, ...statuses];
  const unready = [...sidecars, ...(pod.spec.containers ?? [])].filter(
    (container) => statusOf(all, container)?.ready !== true,
  );
  if (unready.length === 0) return yes;
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${names(unready)}]`,
  };
}

function podReady({ pod, before = [] }: ConditionOptions, ready: Judged): Judged {
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
  if (problems.length === 0) return yes;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function statusOf(statuses: readonly ContainerStatus[], { name }: Container) {
  return statuses.find((status) => status.name === name);
}

const names = (containers: readonly Container[]): string => containers.map((c) => c.name).join(' ');

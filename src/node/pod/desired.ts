// A pod and its container records in, the containers to start out. Upstream: kuberuntime_manager.go, computePodActions.
import type { Container } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ContainerRecord, ContainerRecords } from './container-record.ts';
import { type RestartLimits, restartAt, restartLimits, shouldRestart } from './restart-policy.ts';

export type PodPlan = {
  /** Containers to start now. */
  readonly start: readonly Container[];
  /** Containers that restart later, after their back-off. */
  readonly waiting: readonly { readonly container: Container; readonly until: number }[];
  /** The pod has run to completion: the sidecars are stopped, and nothing restarts. */
  readonly isFinished: boolean;
};

export type PlanOptions = {
  readonly pod: Pod;
  readonly records: ContainerRecords;
  readonly now: number;
  readonly limits?: RestartLimits;
};

/** Ephemeral containers start once, independently of the others, as long as the pod has not finished. */
export function planPod(options: PlanOptions): PodPlan {
  const plan = planOthers(options);
  if (plan.isFinished) return plan;
  const added = collect(options, options.pod.spec.ephemeralContainers ?? []);
  return {
    start: [...plan.start, ...added.start],
    waiting: [...plan.waiting, ...added.waiting],
    isFinished: false,
  };
}

function planOthers(options: PlanOptions): PodPlan {
  const { pod, records } = options;
  const containers = pod.spec.containers ?? [];
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer);
  if (!containers.some(({ name }) => hasStarted(records[name]))) {
    const init = planInit(options);
    if (!init.isDone) return init.plan;
    return collect(options, [...sidecars, ...containers]);
  }
  const isFinished = containers.every((container) => {
    const state = records[container.name]?.state;
    return state?.kind === 'terminated' && !shouldRestart(pod, container, state);
  });
  return isFinished ? finished : collect(options, [...sidecars, ...containers]);
}

const finished: PodPlan = { start: [], waiting: [], isFinished: true };

/** Whether the container was ever created; one in back-off was. */
function hasStarted(record: ContainerRecord | undefined): boolean {
  return record !== undefined && (record.state.kind !== 'waiting' || record.last !== undefined);
}

type InitPlan = { readonly isDone: boolean; readonly plan: PodPlan };

/** One after the other. A sidecar lets the next one start when it has started, and keeps running. */
function planInit(options: PlanOptions): InitPlan {
  const { pod, records } = options;
  const sidecars: Container[] = [];
  for (const container of pod.spec.initContainers ?? []) {
    if (isRestartableInitContainer(container)) sidecars.push(container);
    const step = initStep(pod, container, records[container.name]);
    if (step === 'done') continue;
    if (step === 'failed') return { isDone: false, plan: finished };
    return { isDone: false, plan: collect(options, [...new Set([...sidecars, container])]) };
  }
  return { isDone: true, plan: finished };
}

function initStep(
  pod: Pod,
  container: Container,
  record: ContainerRecord | undefined,
): 'done' | 'failed' | 'open' {
  if (isRestartableInitContainer(container)) return record?.isStarted ? 'done' : 'open';
  const state = record?.state;
  if (state?.kind !== 'terminated') return 'open';
  if (state.exitCode === 0) return 'done';
  return shouldRestart(pod, container, state) ? 'open' : 'failed';
}

function collect(options: PlanOptions, containers: readonly Container[]): PodPlan {
  const start: Container[] = [];
  const waiting: { container: Container; until: number }[] = [];
  for (const container of containers) {
    const until = startAt(options, container);
    if (until === undefined) continue;
    if (until <= options.now) start.push(container);
    else waiting.push({ container, until });
  }
  return { start, waiting, isFinished: false };
}

/** Undefined: it is running, or does not restart. */
function startAt({ pod, records, limits }: PlanOptions, container: Container): number | undefined {
  const record = records[container.name];
  if (record === undefined) return 0;
  const { state, last, backOff, isStopping } = record;
  if (state.kind === 'running' || isStopping) return undefined;
  const ended = state.kind === 'terminated' ? state : last;
  const retryAt = state.kind === 'waiting' ? (state.retryAt ?? 0) : 0;
  if (ended === undefined) return retryAt;
  if (!shouldRestart(pod, container, ended)) return undefined;
  return Math.max(retryAt, restartAt(backOff, ended.finishedAt, limits ?? restartLimits));
}

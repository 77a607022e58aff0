// The status of a pod, from the records of its containers.
import type { Container } from '../../kinds/pod/container.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../../kinds/pod/pod-status.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { formatTime } from '../../schema/time.ts';
import type { PodAddresses } from '../environment/pod-field.ts';
import type { ContainerRecord, ContainerRecords, Terminated } from '../pod/container-record.ts';
import { podConditions } from './pod-conditions.ts';
import { podPhase } from './pod-phase.ts';

export type StatusOptions = {
  readonly pod: Pod;
  readonly records: ContainerRecords;
  /** The status that was last reported, or that the pod had when the worker started. */
  readonly before: PodStatus;
  readonly addresses: PodAddresses;
  /** When the node accepted the pod. */
  readonly startedAt: number;
  readonly now: number;
  /** No container restarts. */
  readonly isTerminal: boolean;
  /** Why the pod as a whole failed, such as DeadlineExceeded. */
  readonly end?: { readonly reason: string; readonly message: string };
};

export function podStatus(options: StatusOptions): PodStatus {
  const { pod, before, addresses, startedAt, now, isTerminal, end } = options;
  const initStatuses = (pod.spec.initContainers ?? []).map((c) =>
    containerStatus(options, c, true),
  );
  const statuses = (pod.spec.containers ?? []).map((c) => containerStatus(options, c, false));
  const computedPhase = podPhase({ pod, initStatuses, statuses, isTerminal });
  // The phase of a finished pod does not change during its cleanup.
  const hasFinished = before.phase === 'Succeeded' || before.phase === 'Failed';
  const phase = hasFinished
    ? (before.phase ?? computedPhase)
    : end === undefined
      ? computedPhase
      : 'Failed';
  const { generation } = pod.metadata;
  const [hostIP] = addresses.hostIPs;
  const [podIP] = addresses.podIPs;
  const hasNetwork = podIP !== undefined && !isTerminal;
  const now3339 = formatTime(now);
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions: [
      ...podConditions({
        pod,
        phase,
        initStatuses,
        statuses,
        hasNetwork,
        resizeProblems: Object.values(options.records).flatMap((one) => one.resizeProblem ?? []),
        before: before.conditions,
        now: now3339,
      }),
    ],
    ...(end === undefined ? {} : end),
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: addresses.hostIPs.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: addresses.podIPs.map((ip) => ({ ip })) }),
    startTime: before.startTime ?? formatTime(startedAt),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: statuses,
    ...ephemeralStatuses(options),
    ...(before.qosClass === undefined ? {} : { qosClass: before.qosClass }),
  };
}

function containerStatus(
  { pod, records }: StatusOptions,
  container: Container,
  isInit: boolean,
): ContainerStatus {
  const record = records[container.name];
  const hasInit = (pod.spec.initContainers ?? []).length > 0;
  const first = hasInit ? 'PodInitializing' : 'ContainerCreating';
  const state = stateOf(record, first);
  const id = idOf(record);
  const runsToCompletion = isInit && !isRestartableInitContainer(container);
  return {
    name: container.name,
    state,
    lastState: record?.last === undefined ? {} : { terminated: terminatedState(record.last) },
    ready: runsToCompletion ? state.terminated?.exitCode === 0 : (record?.isReady ?? false),
    restartCount: record?.restartCount ?? 0,
    image: record?.image?.name ?? container.image ?? '',
    imageID: record?.image?.id ?? '',
    ...(id === undefined ? {} : { containerID: id }),
    started: record?.isStarted ?? false,
    ...quantities(record?.resources ?? container.resources),
  };
}

function ephemeralStatuses(options: StatusOptions): Pick<PodStatus, 'ephemeralContainerStatuses'> {
  const { ephemeralContainers = [] } = options.pod.spec;
  if (ephemeralContainers.length === 0) return {};
  return {
    ephemeralContainerStatuses: ephemeralContainers.map((one) => ephemeralStatus(options, one)),
  };
}

/** Ephemeral containers are never ready and have no resources. */
function ephemeralStatus(options: StatusOptions, container: Container): ContainerStatus {
  const { name, state, lastState, restartCount, image, imageID, containerID } = containerStatus(
    options,
    container,
    false,
  );
  return {
    ...{ name, state, lastState, ready: false, restartCount, image, imageID },
    ...(containerID === undefined ? {} : { containerID }),
  };
}

/** The resources in effect, and those allocated by the node. */
function quantities(
  resources: ResourceRequirements = {},
): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  const { requests = {} } = resources;
  return {
    ...(Object.keys(requests).length === 0 ? {} : { allocatedResources: requests }),
    resources,
  };
}

function stateOf(record: ContainerRecord | undefined, first: string): ContainerState {
  if (record === undefined) return { waiting: { reason: first } };
  const { state } = record;
  switch (state.kind) {
    case 'waiting': {
      const { reason, message } = state;
      return { waiting: { reason, ...(message === undefined ? {} : { message }) } };
    }
    case 'running':
      return { running: { startedAt: formatTime(state.startedAt) } };
    case 'terminated':
      return { terminated: terminatedState(state) };
  }
}

function terminatedState(end: Terminated): NonNullable<ContainerState['terminated']> {
  const { exitCode, signal, reason, message, startedAt, finishedAt, id } = end;
  return {
    exitCode,
    ...(signal === undefined ? {} : { signal }),
    reason,
    ...(message === undefined || message === '' ? {} : { message }),
    startedAt: startedAt === undefined ? null : formatTime(startedAt),
    finishedAt: formatTime(finishedAt),
    ...(id === undefined ? {} : { containerID: id }),
  };
}

function idOf(record: ContainerRecord | undefined): string | undefined {
  if (record === undefined) return undefined;
  return record.state.kind === 'waiting' ? record.last?.id : record.state.id;
}

// Container records across a restart of the agent: at its start from the statuses of pods, and at its shutdown.
import type { ContainerState, ContainerStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { parseTime } from '../../schema/time.ts';
import type { ContainerRecord, ContainerRecords, Terminated } from './container-record.ts';

/** Everything that was running has been killed by now. */
export function recoverRecords({ status }: Pod, now: number): ContainerRecords {
  const all = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  return Object.fromEntries(
    all.flatMap((one) => {
      const record = recover(one, now);
      return record === undefined ? [] : [[one.name, record]];
    }),
  );
}

function recover(
  { state, lastState, restartCount, containerID }: ContainerStatus,
  now: number,
): ContainerRecord | undefined {
  const ended = terminated(state.terminated, now);
  const last = terminated(lastState.terminated, now);
  const stopped = { restartCount, isStarted: false, isReady: false };
  if (ended !== undefined)
    return { ...stopped, state: ended, ...(last === undefined ? {} : { last }) };
  if (state.running !== undefined) {
    return {
      ...stopped,
      state: {
        kind: 'terminated',
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message:
          'The container could not be located when the node agent started. It used to be Running',
        ...(containerID === undefined ? {} : { id: containerID }),
        ...startOf(state.running.startedAt),
        finishedAt: now,
      },
    };
  }
  return last === undefined ? undefined : { ...stopped, state: last };
}

function terminated(end: ContainerState['terminated'], now: number): Terminated | undefined {
  if (end === undefined) return undefined;
  const { exitCode, signal, reason = 'Error', message, startedAt, finishedAt, containerID } = end;
  return {
    kind: 'terminated',
    exitCode,
    reason,
    ...(signal === undefined ? {} : { signal }),
    ...(message === undefined ? {} : { message }),
    ...startOf(startedAt),
    finishedAt: parseTime(finishedAt ?? '') ?? now,
    ...(containerID === undefined ? {} : { id: containerID }),
  };
}

function startOf(text: string | null | undefined): { startedAt?: number } {
  const startedAt = parseTime(text ?? '');
  return startedAt === undefined ? {} : { startedAt };
}

/**
 * A container that was running before the shutdown and exited with 0 was stopped, it did not complete. Otherwise a pod that runs to
 * completion would count as succeeded, and an init container would not run again.
 */
export function interruptedRecords(
  before: ContainerRecords,
  after: ContainerRecords,
): ContainerRecords {
  return Object.fromEntries(
    Object.entries(after).map(([name, record]) => [
      name,
      before[name]?.state.kind === 'running' ? interrupted(record) : record,
    ]),
  );
}

/** The same reason as for a container that the agent does not find at its start. */
function interrupted(record: ContainerRecord): ContainerRecord {
  const { state } = record;
  if (state.kind !== 'terminated' || state.exitCode !== 0) return record;
  return {
    ...record,
    state: {
      ...state,
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container was terminated together with the node agent',
    },
  };
}

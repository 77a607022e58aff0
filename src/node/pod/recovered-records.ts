// What an agent that starts anew knows of containers: what the pod's status says, and that nothing runs any more.
import type { ContainerState, ContainerStatus } from '../../kinds/pod/pod-status.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { parseTime } from '../../schema/time.ts';
import type { ContainerRecord, ContainerRecords, Terminated } from './container-record.ts';

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
  const gone = { restartCount, isStarted: false, isReady: false };
  if (ended !== undefined)
    return { ...gone, state: ended, ...(last === undefined ? {} : { last }) };
  if (state.running !== undefined) {
    return {
      ...gone,
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
  return last === undefined ? undefined : { ...gone, state: last };
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

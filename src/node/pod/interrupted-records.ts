// What became of containers that ended because the agent did.
import type { ContainerRecord, ContainerRecords } from './container-record.ts';

/**
 * A container that ran before and says now that it succeeded was stopped, not finished: taken at its word, a pod that runs to its end
 * would count as done, and an init container would not run again.
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

/** As one that an agent which starts anew does not find. */
function interrupted(record: ContainerRecord): ContainerRecord {
  const { state } = record;
  if (state.kind !== 'terminated' || state.exitCode !== 0) return record;
  return {
    ...record,
    state: {
      ...state,
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container was ended together with the node agent',
    },
  };
}

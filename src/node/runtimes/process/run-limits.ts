// Enforces limits of containers, if the machine permits it.
import type { ResourceRequirements } from '../../../kinds/pod/resources.ts';
import type { Log } from '../../../observe/log.ts';
import type { ContainerEnd, ContainerToRun } from '../runtime.ts';
import { ContainerStartError } from '../runtime.ts';
import {
  type ContainerCgroup,
  type Controller,
  limitControllers,
  type OpenedCgroups,
  openCgroups,
} from './apply-cgroups.ts';
import { openPidGroups, type PidGroups } from './apply-pid-groups.ts';
import { type CgroupLimit, cgroupLimits } from './cgroup-limits.ts';

export type ContainerLimits = {
  /** Files by which processes of the container join its groups. */
  readonly groupFiles: readonly string[];
  /** RLIMIT_NPROC, if no group limits processes. */
  readonly maxProcesses?: number;
  /** Adds a process that could not join the groups itself. */
  readonly addProcess: (pid: number) => void;
  /** Changes the limits. Throws if they cannot be set. */
  readonly change: (resources: ResourceRequirements) => void;
  /** Called after its termination: removes the groups, and adds whether it was out of memory. */
  readonly finish: (end: ContainerEnd) => Promise<ContainerEnd>;
};

/** Limits are not enforced, so there is nothing to change. */
const unlimited: ContainerLimits = {
  groupFiles: [],
  addProcess: () => {},
  change: () => {},
  finish: (end) => Promise.resolve(end),
};

/** Its running processes would not move to a new group. */
const ungrouped: ContainerLimits = {
  ...unlimited,
  change(resources) {
    if (cgroupLimits(resources).length === 0) return;
    throw new Error('the container started without limits and gets them when it starts again');
  },
};

export type LimitsOptions = {
  /** The agent's data directory. */
  readonly directory: string;
  readonly log: Log;
  /** Limit of processes and threads per pod; absent: none. */
  readonly maxPids?: number;
};

export type LimitedContainer = Pick<ContainerToRun, 'id' | 'resources' | 'pod'>;

/** Groups are opened for the first container with limits. */
export function createLimits(
  options: LimitsOptions,
): (container: LimitedContainer) => ContainerLimits {
  const { maxPids, log } = options;
  let opened: OpenedGroups | undefined;
  return (container) => {
    const limits = cgroupLimits(container.resources);
    if (limits.length === 0 && maxPids === undefined) return ungrouped;
    opened ??= openGroups(options);
    try {
      return combine([
        quantitiesOf(container, limits, opened, options),
        ...(maxPids === undefined ? [] : [pidsOf(container, maxPids, opened, log)]),
      ]);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ContainerStartError('CreateContainerError', `cannot set limits: ${reason}`, {
        cause,
      });
    }
  };
}

type OpenedGroups = {
  readonly quantities: OpenedCgroups;
  /** What limits processes: the same groups, those of version 1, or the kernel per user. */
  readonly pids: 'same' | PidGroups | 'user';
  hasWarned: boolean;
};

function openGroups({ directory, maxPids, log }: LimitsOptions): OpenedGroups {
  const choices: readonly (readonly Controller[])[] =
    maxPids === undefined
      ? [limitControllers]
      : [[...limitControllers, 'pids'], limitControllers, ['pids']];
  const quantities = openCgroups(directory, choices);
  const isSame = quantities.kind === 'there' && quantities.cgroups.controllers.includes('pids');
  const pids = isSame || maxPids === undefined ? 'same' : (openPidGroups(directory) ?? 'user');
  if (pids === 'user') {
    log.warn('No control group for processes, limiting them per user except root', {
      maxPids,
    });
  }
  return { quantities, pids, hasWarned: false };
}

function quantitiesOf(
  { id, pod }: LimitedContainer,
  limits: readonly CgroupLimit[],
  opened: OpenedGroups,
  { maxPids, log }: LimitsOptions,
): ContainerLimits {
  const { quantities, pids } = opened;
  const canLimit = quantities.kind === 'there' && quantities.cgroups.controllers.includes('memory');
  if (limits.length > 0 && !canLimit && !opened.hasWarned) {
    const reason = quantities.kind === 'there' ? 'no control of cpu and memory' : quantities.reason;
    log.warn('Container limits are not enforced', { reason });
    opened.hasWarned = true;
  }
  const isCounted = pids === 'same' && maxPids !== undefined;
  if (limits.length === 0 && !isCounted) return ungrouped;
  if (quantities.kind === 'missing' || (!canLimit && !isCounted)) return unlimited;
  const podLimits = [{ file: 'pids.max', value: String(maxPids) }];
  const group = quantities.cgroups.create({
    ...{ id, limits },
    ...(isCounted ? { pod: { uid: pod.uid, limits: podLimits } } : {}),
  });
  const limited = limitedBy(group, log);
  return canLimit ? limited : { ...limited, change: unlimited.change };
}

function pidsOf(
  { id, pod }: LimitedContainer,
  maxPids: number,
  { pids }: OpenedGroups,
  log: Log,
): ContainerLimits {
  if (pids === 'same') return unlimited;
  if (pids === 'user') return { ...unlimited, maxProcesses: maxPids };
  const { file, add, remove } = pids.create(id, pod.uid, maxPids);
  return {
    ...unlimited,
    groupFiles: [file],
    addProcess: add,
    finish: (end) => removeGroup(remove, log).then(() => end),
  };
}

/** Combines limits; throws if one of them cannot be changed. */
function combine(parts: readonly ContainerLimits[]): ContainerLimits {
  const maxProcesses = parts.find((part) => part.maxProcesses !== undefined)?.maxProcesses;
  return {
    groupFiles: parts.flatMap(({ groupFiles }) => groupFiles),
    ...(maxProcesses === undefined ? {} : { maxProcesses }),
    addProcess: (pid) => {
      for (const { addProcess } of parts) addProcess(pid);
    },
    change: (resources) => {
      for (const { change } of parts) change(resources);
    },
    async finish(end) {
      let last = end;
      for (const { finish } of parts) last = await finish(last);
      return last;
    },
  };
}

function limitedBy(
  { file, add, change, wasOutOfMemory, remove }: ContainerCgroup,
  log: Log,
): ContainerLimits {
  return {
    groupFiles: [file],
    addProcess: add,
    change: (resources) => change(cgroupLimits(resources)),
    async finish(end) {
      const isOutOfMemory = wasOutOfMemory();
      await removeGroup(remove, log);
      return isOutOfMemory ? { ...end, isOutOfMemory } : end;
    },
  };
}

const removeGroup = (remove: () => Promise<void>, log: Log): Promise<void> =>
  remove().catch((error: unknown) =>
    log.warn('Failed to remove control group', { error: String(error) }),
  );

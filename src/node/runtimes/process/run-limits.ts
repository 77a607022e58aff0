// Holds containers to their limits, where the machine lets the agent do so.
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
  /** Where processes of the container enter by themselves. */
  readonly groupFiles: readonly string[];
  /** How many processes the container's user may have, where no group counts them. */
  readonly maxProcesses?: number;
  /** A process of the container that could not, as soon as it is there. */
  readonly hold: (pid: number) => void;
  /** Other limits from now on. Throws where they cannot be set. */
  readonly change: (resources: ResourceRequirements) => void;
  /** After its end: what is left of it goes, and the end says whether memory was the reason. */
  readonly finish: (end: ContainerEnd) => Promise<ContainerEnd>;
};

/** Where nobody is held to anything, there is nothing to change. */
const unlimited: ContainerLimits = {
  groupFiles: [],
  hold: () => {},
  change: () => {},
  finish: (end) => Promise.resolve(end),
};

/** What it has started so far would not follow it into a group. */
const ungrouped: ContainerLimits = {
  ...unlimited,
  change(resources) {
    if (cgroupLimits(resources).length === 0) return;
    throw new Error('the container started without limits and gets them when it starts again');
  },
};

export type LimitsOptions = {
  /** The agent's own. */
  readonly directory: string;
  readonly log: Log;
  /** How many processes and threads a pod may have; absent: as many as the machine. */
  readonly maxPids?: number;
};

export type LimitedContainer = Pick<ContainerToRun, 'id' | 'resources' | 'pod'>;

/** Groups are looked for when the first container wants limits. */
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
      return all([
        quantitiesOf(container, limits, opened, options),
        ...(maxPids === undefined ? [] : [pidsOf(container, maxPids, opened, log)]),
      ]);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ContainerStartError('CreateContainerError', `cannot set limits: ${why}`, { cause });
    }
  };
}

type OpenedGroups = {
  readonly quantities: OpenedCgroups;
  /** Who counts processes: the same groups, those of version 1, or the kernel for each user. */
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
    log.warn(
      'processes of pods are limited for each user and not for root, without control groups',
      {
        maxPids,
      },
    );
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
    const why = quantities.kind === 'there' ? 'no control of cpu and memory' : quantities.why;
    log.warn('limits of containers are not enforced here', { why });
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
  const held = heldIn(group, log);
  return canLimit ? held : { ...held, change: unlimited.change };
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
    hold: add,
    finish: (end) => removed(remove, log).then(() => end),
  };
}

/** Each does its part; what cannot be changed by one of them is not changed. */
function all(parts: readonly ContainerLimits[]): ContainerLimits {
  const maxProcesses = parts.find((part) => part.maxProcesses !== undefined)?.maxProcesses;
  return {
    groupFiles: parts.flatMap(({ groupFiles }) => groupFiles),
    ...(maxProcesses === undefined ? {} : { maxProcesses }),
    hold: (pid) => {
      for (const { hold } of parts) hold(pid);
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

function heldIn(
  { file, add, change, wasOutOfMemory, remove }: ContainerCgroup,
  log: Log,
): ContainerLimits {
  return {
    groupFiles: [file],
    hold: add,
    change: (resources) => change(cgroupLimits(resources)),
    async finish(end) {
      const isOutOfMemory = wasOutOfMemory();
      await removed(remove, log);
      return isOutOfMemory ? { ...end, isOutOfMemory } : end;
    },
  };
}

const removed = (remove: () => Promise<void>, log: Log): Promise<void> =>
  remove().catch((error: unknown) =>
    log.warn('control group could not be removed', { error: String(error) }),
  );

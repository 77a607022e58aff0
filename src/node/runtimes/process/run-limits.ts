// Holds containers to their limits, where the machine lets the agent do so.
import type { ResourceRequirements } from '../../../kinds/pod/resources.ts';
import type { Log } from '../../../observe/log.ts';
import type { ContainerEnd, ContainerToRun } from '../runtime.ts';
import { ContainerStartError } from '../runtime.ts';
import { type ContainerCgroup, type OpenedCgroups, openCgroups } from './apply-cgroups.ts';
import { cgroupLimits } from './cgroup-limits.ts';

export type ContainerLimits = {
  /** A process of the container, as soon as it is there. */
  readonly hold: (pid: number) => void;
  /** Other limits from now on. Throws where they cannot be set. */
  readonly change: (resources: ResourceRequirements) => void;
  /** After its end: what is left of it goes, and the end says whether memory was the reason. */
  readonly finish: (end: ContainerEnd) => Promise<ContainerEnd>;
};

/** Where nobody is held to anything, there is nothing to change. */
const unlimited: ContainerLimits = {
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

/** Groups are looked for when the first container wants limits. `directory` is the agent's own. */
export function createLimits(
  directory: string,
  log: Log,
): (container: Pick<ContainerToRun, 'id' | 'resources'>) => ContainerLimits {
  let opened: OpenedCgroups | undefined;
  return ({ id, resources }) => {
    const limits = cgroupLimits(resources);
    if (limits.length === 0) return ungrouped;
    if (opened === undefined) {
      opened = openCgroups(directory);
      if (opened.kind === 'missing') {
        log.warn('limits of containers are not enforced here', { why: opened.why });
      }
    }
    if (opened.kind === 'missing') return unlimited;
    try {
      return heldIn(opened.cgroups.create(id, limits), log);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ContainerStartError('CreateContainerError', `cannot set limits: ${why}`, { cause });
    }
  };
}

function heldIn(
  { add, change, wasOutOfMemory, remove }: ContainerCgroup,
  log: Log,
): ContainerLimits {
  return {
    hold: add,
    change: (resources) => change(cgroupLimits(resources)),
    async finish(end) {
      const isOutOfMemory = wasOutOfMemory();
      await remove().catch((error: unknown) =>
        log.warn('control group could not be removed', { error: String(error) }),
      );
      return isOutOfMemory ? { ...end, isOutOfMemory } : end;
    },
  };
}

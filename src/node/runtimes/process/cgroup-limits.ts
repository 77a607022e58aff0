// What the amounts of a container mean to the kernel's control groups (version 2), as a kubelet translates them.
import type { ResourceRequirements } from '../../../kinds/pod/resources.ts';
import { quantityValue } from '../../../schema/quantity.ts';

/** File of the group, and what is written into it. */
export type CgroupLimit = { readonly file: string; readonly value: string };

const periodMicroseconds = 100_000;
/** The kernel takes no less. */
const minQuotaMicroseconds = 1000;
/** Shares are what version 1 counted in: 1024 a processor. */
const sharesPerCpu = 1024;
const minShares = 2;
const maxShares = 262_144;

/** None: the container needs no group of its own. */
export function cgroupLimits(resources: ResourceRequirements | undefined): readonly CgroupLimit[] {
  const cpus = quantity(resources?.limits, 'cpu');
  const bytes = quantity(resources?.limits, 'memory');
  const wantedCpus = quantity(resources?.requests, 'cpu') ?? cpus;
  return [
    ...(cpus === undefined ? [] : [{ file: 'cpu.max', value: quota(cpus) }]),
    ...(wantedCpus === undefined ? [] : [{ file: 'cpu.weight', value: weight(wantedCpus) }]),
    ...(bytes === undefined
      ? []
      : [
          { file: 'memory.max', value: String(Math.floor(bytes)) },
          // Without it one process goes and the rest of the container is left to guess.
          { file: 'memory.oom.group', value: '1' },
        ]),
  ];
}

/** Nothing set and nothing allowed are both no limit. */
function quantity(
  list: Readonly<Record<string, string>> | undefined,
  name: string,
): number | undefined {
  const text = list?.[name];
  const value = text === undefined ? 0 : quantityValue(text);
  return value > 0 ? value : undefined;
}

function quota(cpus: number): string {
  const microseconds = Math.max(Math.floor(cpus * periodMicroseconds), minQuotaMicroseconds);
  return `${microseconds} ${periodMicroseconds}`;
}

/** Shares of 2 to 262144 become weights of 1 to 10000. */
function weight(cpus: number): string {
  const shares = Math.min(Math.max(Math.floor(cpus * sharesPerCpu), minShares), maxShares);
  return String(1 + Math.floor(((shares - minShares) * 9999) / (maxShares - minShares)));
}

/** Whether the kernel ended a process of the group for want of memory: `oom_kill 1` in its memory.events. */
export function hasKilledForMemory(events: string): boolean {
  return /^oom_kill [1-9]/m.test(events);
}

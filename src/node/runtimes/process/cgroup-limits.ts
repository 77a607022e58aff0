// Translates resources of a container to control group files (version 2), as the kubelet does.
import type { ResourceRequirements } from '../../../kinds/pod/resources.ts';
import { quantityValue } from '../../../schema/quantity.ts';

/** A file of the group and its value. */
export type CgroupLimit = { readonly file: string; readonly value: string };

const periodMicroseconds = 100_000;
/** Minimum of the kernel. */
const minQuotaMicroseconds = 1000;
/** Shares are the unit of version 1: 1024 per CPU. */
const sharesPerCpu = 1024;
const minShares = 2;
const maxShares = 262_144;

/** Empty: the container needs no group of its own. */
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
          // Otherwise the kernel kills a single process, and the rest of the container keeps running.
          { file: 'memory.oom.group', value: '1' },
        ]),
  ];
}

/** Zero means no limit, as a missing value. */
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

/** Whether the kernel has killed a process of the group for its memory limit: `oom_kill 1` in memory.events. */
export function hasKilledForMemory(events: string): boolean {
  return /^oom_kill [1-9]/m.test(events);
}

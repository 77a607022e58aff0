// What the kernel says of a process, CPU time and memory, and of the time that was taken from all.
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node.js runs on. */
const ticksPerSecond = 100;

/** CPU time that the process used so far, all threads, user and system, in microseconds. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name stands in brackets and may hold anything; what follows it is plain.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks / ticksPerSecond) * 1e6;
}

/** CPU time that the main thread of the process used so far, in milliseconds. Exact to a tick of the scheduler. */
export function mainThreadCpuMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}

/** Time of all cores that the machine's own host gave to others so far, in milliseconds. */
export function stolenMs(): number {
  const [, , , , , , , , stolen] = readFileSync('/proc/stat', 'latin1').split(/\s+/, 9);
  return (Number(stolen ?? 0) / ticksPerSecond) * 1000;
}

/** Resident memory in MiB: now, and the most there ever was. */
export function residentMiB(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const of = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { now: of('VmRSS'), most: of('VmHWM') };
}

/** Of the process, all that it started, and what those started: the one with most memory. */
export function largestProcess(pid: number): number {
  const sizes = processTree(pid).map((one) => ({ one, size: ifAlive(() => residentMiB(one).now) }));
  const [first] = sizes.sort((a, b) => (b.size ?? 0) - (a.size ?? 0));
  return first?.one ?? pid;
}

function processTree(pid: number): readonly number[] {
  const started = ifAlive(() =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
    ),
  );
  return [pid, ...(started ?? []).flatMap((child) => processTree(Number(child)))];
}

/** Short-lived ones may end while they are looked at. */
function ifAlive<T>(sample: () => T): T | undefined {
  try {
    return sample();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

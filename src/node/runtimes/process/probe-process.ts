// What /proc says of a process. Undefined for what is gone, or not ours to see.
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs';

const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Fields of stat from the third on; the name of the program, which may hold anything, stands in parentheses before. */
function statFields(pid: number): readonly string[] {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** When it started, in ticks since the boot. */
export const startTicksOf = (pid: number): string | undefined => statFields(pid)[19];

/** The process that leads its session. */
export const sessionOf = (pid: number): number => Number(statFields(pid)[3]);

/** Which mounts it sees. */
export const mountsOf = (pid: number): string | undefined =>
  quietly(() => readlinkSync(`/proc/${pid}/ns/mnt`));

export type HeldMounts = { readonly name: string; readonly release: () => void };

/** As long as they are held nobody else's mounts get their name, which the kernel gives again as soon as the last process has ended. */
export function holdMounts(pid: number): HeldMounts | undefined {
  const descriptor = quietly(() => openSync(`/proc/${pid}/ns/mnt`, 'r'));
  if (descriptor === undefined) return undefined;
  return {
    name: readlinkSync(`/proc/self/fd/${descriptor}`),
    release: () => closeSync(descriptor),
  };
}

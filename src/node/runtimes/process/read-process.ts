// What /proc says of a process. Undefined for what is gone, or not ours to see.
import { openSync, readFileSync, readlinkSync } from 'node:fs';

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

/** The processes that it has started and not yet waited for. */
export function childrenOf(pid: number): readonly number[] {
  const told = quietly(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  return (told ?? '').split(' ').filter(Boolean).map(Number);
}

/** Which namespace of a kind it is in: a name that no other has while somebody is. */
export const namespaceOf = (pid: number | 'thread-self', kind: string): string | undefined =>
  quietly(() => readlinkSync(`/proc/${pid}/ns/${kind}`));

/** A descriptor of it, which keeps it there. */
export const openNamespace = (pid: number, kind: string): number | undefined =>
  quietly(() => openSync(`/proc/${pid}/ns/${kind}`, 'r'));

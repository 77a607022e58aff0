// Reads /proc about a process. Undefined for processes that have exited or are not accessible.
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

/** Fields of stat from the third on. The second is the program's name in parentheses, which may contain anything. */
function statFields(pid: number): readonly string[] {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Start time in clock ticks since boot. */
export const startTicksOf = (pid: number): string | undefined => statFields(pid)[19];

/** Its session leader. */
export const sessionOf = (pid: number): number => Number(statFields(pid)[3]);

/** Its children, including zombies. */
export function childrenOf(pid: number): readonly number[] {
  const children = quietly(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  return (children ?? '').split(' ').filter(Boolean).map(Number);
}

/** Identifies its namespace of a kind; unique while the namespace exists. */
export const namespaceOf = (pid: number | 'thread-self', kind: string): string | undefined =>
  quietly(() => readlinkSync(`/proc/${pid}/ns/${kind}`));

/** A descriptor of the namespace, which keeps it alive. */
export const openNamespace = (pid: number, kind: string): number | undefined =>
  quietly(() => openSync(`/proc/${pid}/ns/${kind}`, 'r'));

// What a tree of processes is made of, and what is left of it after its end.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type Traces = {
  readonly processes: readonly ProcessTrace[];
  readonly namespaces: readonly string[];
};
type ProcessTrace = { readonly pid: number; readonly startTicks: string };

/** A process and everything below it. */
export function tracesOf(pid: number): Traces {
  const parents = new Map<number, number[]>();
  for (const one of allProcesses()) {
    const parent = Number(statOf(one)?.[1] ?? -1);
    parents.set(parent, [...(parents.get(parent) ?? []), one]);
  }
  const below = (from: number): readonly number[] =>
    (parents.get(from) ?? []).flatMap((child) => [child, ...below(child)]);
  const processes = [pid, ...below(pid)].map((one) => ({
    pid: one,
    startTicks: statOf(one)?.[19] ?? '',
  }));
  const own = readlinkSync('/proc/self/ns/net');
  const namespaces = new Set(processes.flatMap((one) => threadNamespaces(one.pid)));
  namespaces.delete(own);
  return { processes, namespaces: [...namespaces] };
}

function threadNamespaces(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
      try {
        return [readlinkSync(`/proc/${pid}/task/${task}/ns/net`)];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** What is left of the traces; empty when nothing is. The kernel takes a moment to take a killed tree apart. */
export async function leftOf({ processes, namespaces }: Traces): Promise<readonly string[]> {
  const sample = (): readonly string[] => {
    const living = processes.filter(({ pid, startTicks }) => statOf(pid)?.[19] === startTicks);
    const used = new Set(allProcesses().flatMap(threadNamespaces));
    return [
      ...living.map(({ pid }) => `process ${pid}`),
      ...namespaces.filter((name) => used.has(name)),
    ];
  };
  const deadline = Date.now() + 10_000;
  while (sample().length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return sample();
}

const allProcesses = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** The fields after the name of the program: state, parent, ... */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields;
  } catch {
    return undefined;
  }
}

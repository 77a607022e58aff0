// The processes of a running `up`: by them its namespaces are entered.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { FailedError } from '../flags/command.ts';
import type { UpState } from '../flags/state-file.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { starterName } from '../node/runtimes/sandbox/fork-steps.ts';
import type { UpNamespaces } from './shell-command.ts';

/** The namespaces that the launcher created are those of its grandchild. */
export function namespacesOf({ pid, network }: UpState): UpNamespaces {
  if (network !== 'isolated') return { isUserNamespace: false };
  const [outer] = childrenOf(pid);
  const [firstProcess] = outer === undefined ? [] : childrenOf(outer);
  if (firstProcess === undefined) {
    throw new FailedError(
      `Cannot read process ${pid}: it belongs to another user, or is terminating.`,
    );
  }
  const userOf = (id: number | 'self'): string => readlinkSync(`/proc/${id}/ns/user`);
  return { firstProcess, isUserNamespace: userOf(firstProcess) !== userOf('self') };
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** The parent PID: the fourth field of /proc/PID/stat. The program name before it may contain parentheses. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/**
 * The agent records the process of each container under the container ID in the pod's status. Undefined: no such container runs on a node
 * of this `up`.
 */
export function containerProcessOf(
  nodes: UpState['nodes'],
  pod: Pod,
  container?: string,
): number | undefined {
  const node = nodes.find((one) => one.name === pod.spec.nodeName);
  const id = containerId(pod, container);
  if (node === undefined || id === undefined) return undefined;
  const mark = readFileSync(join(node.dataDirectory, 'processes', `${id}.json`), 'utf8');
  return (JSON.parse(mark) as { readonly pid: number }).pid;
}

function containerId({ status }: Pod, name: string | undefined): string | undefined {
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running);
  const found = name === undefined ? running[0] : running.find((one) => one.name === name);
  return found?.containerID?.replace(/^.*:\/\//, '');
}

/** The agent records the process that waits outside; its child is PID 1 of the container, whose first child is the program. */
export function programOf({ firstProcess }: UpNamespaces, outside: number): number {
  const root = firstProcess === undefined ? '' : `/proc/${firstProcess}/root`;
  let pid = outside;
  for (let depth = 0; depth < 2; depth += 1) {
    const children = readFileSync(`${root}/proc/${pid}/task/${pid}/children`, 'utf8');
    const [child = ''] = children.split(' ');
    if (child === '') break;
    const isInit = readFileSync(`${root}/proc/${pid}/comm`, 'utf8').trim() === starterName;
    if (!isInit) break;
    pid = Number(child);
  }
  return pid;
}

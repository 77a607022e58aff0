// Control groups of version 1 that limit the processes of a pod, on machines without the version 2 controller.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentGroup, removeEmpty, removeTree } from './apply-cgroups.ts';
import { pidGroupPath } from './cgroup-paths.ts';

export type PidGroup = {
  /** A process joins the group by writing 0 to it. */
  readonly file: string;
  readonly add: (pid: number) => void;
  readonly remove: () => Promise<void>;
};

export type PidGroups = {
  readonly create: (id: string, podUid: string, maxPids: number) => PidGroup;
};

/** Undefined if this agent may not create groups. */
export function openPidGroups(directory: string): PidGroups | undefined {
  const root = readPath();
  if (root === undefined) return undefined;
  const top = join(root, agentGroup(directory));
  try {
    mkdirSync(top, { recursive: true });
    removeEmpty([top]);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw error;
    return undefined;
  }
  return {
    create(id, podUid, maxPids) {
      const pod = join(top, podUid);
      const path = join(pod, id);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(pod, 'pids.max'), String(maxPids));
      const file = join(path, 'cgroup.procs');
      return {
        file,
        add: (pid) => writeFileSync(file, String(pid)),
        async remove() {
          await removeTree(path);
          removeEmpty([pod, top]);
        },
      };
    },
  };
}

/** Removes the groups of a killed agent with this data directory. */
export async function removePidGroups(directory: string): Promise<void> {
  const root = readPath();
  if (root !== undefined) await removeTree(join(root, agentGroup(directory)));
}

function readPath(): string | undefined {
  return pidGroupPath(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
}

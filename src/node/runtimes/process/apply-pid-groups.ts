// Control groups of version 1 that limit how many processes a pod has, on machines where version 2 does not.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentGroup, removeEmpty, removeTree } from './apply-cgroups.ts';
import { pidGroupPlace } from './cgroup-paths.ts';

export type PidGroup = {
  /** A process that writes 0 to it is in the group. */
  readonly file: string;
  readonly add: (pid: number) => void;
  readonly remove: () => Promise<void>;
};

export type PidGroups = {
  readonly create: (id: string, podUid: string, maxPids: number) => PidGroup;
};

/** Undefined where this agent can make none. */
export function openPidGroups(directory: string): PidGroups | undefined {
  const place = readPlace();
  if (place === undefined) return undefined;
  const top = join(place, agentGroup(directory));
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

/** What a killed agent with this data directory has left; fine when there is nothing. */
export async function removePidGroups(directory: string): Promise<void> {
  const place = readPlace();
  if (place !== undefined) await removeTree(join(place, agentGroup(directory)));
}

function readPlace(): string | undefined {
  return pidGroupPlace(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
}

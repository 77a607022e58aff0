// Control groups (version 2) of containers with limits, below a group of their pod where pods have limits too. A group is a
// directory: it outlives a killed agent, whose next run finds it by name.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CgroupLimit, hasKilledForMemory } from './cgroup-limits.ts';
import { cgroupPaths } from './cgroup-paths.ts';

export type ContainerCgroup = {
  /** A process joins the group by writing 0 to it. */
  readonly file: string;
  /** Moves a process; its later children are in the group too. */
  readonly add: (pid: number) => void;
  /** Throws if the kernel refuses a limit, or the new memory limit is below the current usage. */
  readonly change: (limits: readonly CgroupLimit[]) => void;
  readonly wasOutOfMemory: () => boolean;
  /** Kills its processes and deletes it. */
  readonly remove: () => Promise<void>;
};

export type Cgroups = {
  /** Controllers whose limits can be set. */
  readonly controllers: readonly Controller[];
  /** Throws if the kernel refuses a limit. Limits of missing controllers are ignored. */
  readonly create: (container: GroupSpec) => ContainerCgroup;
};

export type GroupSpec = {
  readonly id: string;
  readonly limits: readonly CgroupLimit[];
  /** Limits of the whole pod; absent: the pod has no group. */
  readonly pod?: { readonly uid: string; readonly limits: readonly CgroupLimit[] };
};

export type Controller = 'cpu' | 'memory' | 'pids';

/** Controllers for limits of containers. */
export const limitControllers: readonly Controller[] = ['cpu', 'memory'];
/** A killed process leaves its group within milliseconds; one that hangs in the kernel may never. */
const removal = { attempts: 100, everyMs: 20 };

/** `reason` says what is missing. */
export type OpenedCgroups =
  | { readonly kind: 'there'; readonly cgroups: Cgroups }
  | { readonly kind: 'missing'; readonly reason: string };

/** Opens the groups of one agent, which are named after its data directory, with the first available choice of controllers. */
export function openCgroups(
  directory: string,
  choices: readonly (readonly Controller[])[] = [limitControllers],
): OpenedCgroups {
  const paths = readPaths();
  let reason: string | undefined;
  for (const controllers of choices) {
    for (const root of paths) {
      try {
        delegate(root, controllers);
        const cgroups = groupsIn(join(root, agentGroup(directory)), controllers);
        return { kind: 'there', cgroups };
      } catch (error) {
        reason ??= error instanceof Error ? error.message : String(error);
      }
    }
  }
  return { kind: 'missing', reason: reason ?? 'control groups of version 2 are not mounted' };
}

/** Removes the groups of a killed agent with this data directory. */
export async function removeCgroups(directory: string): Promise<void> {
  for (const root of readPaths()) await removeTree(join(root, agentGroup(directory)));
}

function readPaths(): readonly string[] {
  return cgroupPaths(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
}

/** The name of the top group of an agent. */
export function agentGroup(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 8);
  return `fairlead-${basename(directory)}-${hash}`;
}

/** The top group exists while there are containers with limits. */
function groupsIn(top: string, controllers: readonly Controller[]): Cgroups {
  const write = (path: string, limits: readonly CgroupLimit[]): void => {
    for (const { file, value } of limits) {
      const isThere = controllers.some((name) => file.startsWith(`${name}.`));
      if (isThere) writeFileSync(join(path, file), value);
    }
  };
  return {
    controllers,
    create({ id, limits, pod }) {
      const above = pod === undefined ? [top] : [top, join(top, pod.uid)];
      for (const path of above) {
        mkdirSync(path, { recursive: true });
        enable(path, controllers);
      }
      const parent = above.at(-1) ?? top;
      if (pod !== undefined) write(parent, pod.limits);
      const path = join(parent, id);
      mkdirSync(path);
      write(path, limits);
      return {
        file: join(path, processesFile),
        add: (pid) => moveTo(path, pid),
        change(changed) {
          checkMemory(path, changed);
          write(path, changed);
        },
        // Already removed if the next run of a killed agent was faster.
        wasOutOfMemory: () =>
          existsSync(join(path, 'memory.events')) &&
          hasKilledForMemory(read(path, 'memory.events')),
        async remove() {
          await removeTree(path);
          removeEmpty([...above].reverse());
        },
      };
    },
  };
}

const processesFile = 'cgroup.procs';

/** Otherwise the kernel would kill processes. */
function checkMemory(path: string, limits: readonly CgroupLimit[]): void {
  const limit = limits.find(({ file }) => file === 'memory.max')?.value;
  const used = Number(read(path, 'memory.current'));
  if (limit !== undefined && Number(limit) < used)
    throw new Error(`memory limit (${limit}) below current usage (${used})`);
}

/** Ignores a process or container that has just terminated. */
function moveTo(path: string, pid: number): void {
  try {
    writeFileSync(join(path, processesFile), String(pid));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENODEV', 'ESRCH'].includes(code)) throw error;
  }
}

/** Enables the controllers for child groups. */
function delegate(root: string, controllers: readonly Controller[]): void {
  const available = read(root, 'cgroup.controllers').split(/\s/);
  const missing = controllers.filter((name) => !available.includes(name));
  if (missing.length > 0) throw new Error(`${root} has no control of ${missing.join(' and ')}`);
  try {
    enable(root, controllers);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    // Only a group without processes can delegate controllers; its processes, including this one, move to a child group.
    const leaf = join(root, 'agent');
    mkdirSync(leaf, { recursive: true });
    for (const pid of read(root, 'cgroup.procs').split('\n').filter(Boolean)) {
      writeFileSync(join(leaf, 'cgroup.procs'), pid);
    }
    enable(root, controllers);
  }
}

function enable(path: string, controllers: readonly Controller[]): void {
  const enabled = read(path, 'cgroup.subtree_control').split(/\s/);
  for (const name of controllers) {
    if (!enabled.includes(name)) writeFileSync(join(path, 'cgroup.subtree_control'), `+${name}`);
  }
}

const read = (path: string, file: string): string => readFileSync(join(path, file), 'utf8');

/** Deletes empty groups, innermost first. */
export function removeEmpty(paths: readonly string[]): void {
  for (const path of paths)
    if (existsSync(path) && directoriesIn(path).length === 0) rmdirSync(path);
}

/** Kills the processes of a group and its children, then deletes the groups. */
export async function removeTree(path: string): Promise<void> {
  for (let attempt = 0; existsSync(path); attempt += 1) {
    try {
      killAll(path);
      removeDirectories(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') continue;
      if (code !== 'EBUSY' || attempt >= removal.attempts) throw error;
      await delay(removal.everyMs);
    }
  }
}

/** Kernels since 5.14 kill a whole group at once, so that no process escapes by forking. */
function killAll(path: string): void {
  const file = join(path, 'cgroup.kill');
  if (existsSync(file)) writeFileSync(file, '1');
}

function removeDirectories(path: string): void {
  for (const name of directoriesIn(path)) removeDirectories(join(path, name));
  rmdirSync(path);
}

function directoriesIn(path: string): readonly string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

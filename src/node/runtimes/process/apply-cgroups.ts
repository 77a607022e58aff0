// Control groups (version 2) for containers that have limits, in a group of their pod where pods have limits too. A group is a
// directory: it stays when its maker is killed, and its next run finds it by its name.
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
import { setTimeout as passed } from 'node:timers/promises';
import { type CgroupLimit, hasKilledForMemory } from './cgroup-limits.ts';
import { cgroupPlaces } from './cgroup-paths.ts';

export type ContainerCgroup = {
  /** A process that writes 0 to it is in the group. */
  readonly file: string;
  /** Moves a process, and with it what it starts from now on. */
  readonly add: (pid: number) => void;
  /** Throws where the kernel refuses a limit, or processes already use more memory than they may from then on. */
  readonly change: (limits: readonly CgroupLimit[]) => void;
  readonly wasOutOfMemory: () => boolean;
  /** Ends what is left in it. */
  readonly remove: () => Promise<void>;
};

export type Cgroups = {
  /** Which limits can be set. */
  readonly controllers: readonly Controller[];
  /** Throws where the kernel refuses a limit. Limits without a controller are left out. */
  readonly create: (container: GroupToMake) => ContainerCgroup;
};

export type GroupToMake = {
  readonly id: string;
  readonly limits: readonly CgroupLimit[];
  /** Of all containers of the pod together; absent: there is no group for the pod. */
  readonly pod?: { readonly uid: string; readonly limits: readonly CgroupLimit[] };
};

export type Controller = 'cpu' | 'memory' | 'pids';

/** What limits of containers need. */
export const limitControllers: readonly Controller[] = ['cpu', 'memory'];
/** A killed process leaves its group within milliseconds; one that hangs in the kernel may never. */
const removal = { attempts: 100, everyMs: 20 };

/** `why` says what is missing. */
export type OpenedCgroups =
  | { readonly kind: 'there'; readonly cgroups: Cgroups }
  | { readonly kind: 'missing'; readonly why: string };

/** The groups of one agent, which its data directory names. The first choice of controllers that is to be had somewhere. */
export function openCgroups(
  directory: string,
  choices: readonly (readonly Controller[])[] = [limitControllers],
): OpenedCgroups {
  const places = readPlaces();
  let why: string | undefined;
  for (const controllers of choices) {
    for (const place of places) {
      try {
        delegate(place, controllers);
        const cgroups = groupsIn(join(place, agentGroup(directory)), controllers);
        return { kind: 'there', cgroups };
      } catch (error) {
        why ??= error instanceof Error ? error.message : String(error);
      }
    }
  }
  return { kind: 'missing', why: why ?? 'control groups of version 2 are not mounted' };
}

/** What a killed agent with this data directory has left; fine when there is nothing. */
export async function removeCgroups(directory: string): Promise<void> {
  for (const place of readPlaces()) await removeTree(join(place, agentGroup(directory)));
}

function readPlaces(): readonly string[] {
  return cgroupPlaces(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
}

/** The name of the group above all that an agent makes. */
export function agentGroup(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 8);
  return `fairlead-${basename(directory)}-${hash}`;
}

/** The first container makes the top one, and the last takes it away: an agent without limits leaves no trace. */
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
        // Gone when the next run of a killed agent was faster.
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

/** The kernel would end processes to make room. */
function checkMemory(path: string, limits: readonly CgroupLimit[]): void {
  const limit = limits.find(({ file }) => file === 'memory.max')?.value;
  const used = Number(read(path, 'memory.current'));
  if (limit !== undefined && Number(limit) < used)
    throw new Error(`memory limit (${limit}) below current usage (${used})`);
}

/** A process that has just ended, or whose container has, needs no limits. */
function moveTo(path: string, pid: number): void {
  try {
    writeFileSync(join(path, processesFile), String(pid));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENODEV', 'ESRCH'].includes(code)) throw error;
  }
}

/** Makes sure that groups below can have limits. */
function delegate(place: string, controllers: readonly Controller[]): void {
  const available = read(place, 'cgroup.controllers').split(/\s/);
  const missing = controllers.filter((name) => !available.includes(name));
  if (missing.length > 0) throw new Error(`${place} has no control of ${missing.join(' and ')}`);
  try {
    enable(place, controllers);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    // Only a group without processes of its own hands limits on; those that are here, we among them, move down.
    const leaf = join(place, 'agent');
    mkdirSync(leaf, { recursive: true });
    for (const pid of read(place, 'cgroup.procs').split('\n').filter(Boolean)) {
      writeFileSync(join(leaf, 'cgroup.procs'), pid);
    }
    enable(place, controllers);
  }
}

function enable(path: string, controllers: readonly Controller[]): void {
  const enabled = read(path, 'cgroup.subtree_control').split(/\s/);
  for (const name of controllers) {
    if (!enabled.includes(name)) writeFileSync(join(path, 'cgroup.subtree_control'), `+${name}`);
  }
}

const read = (path: string, file: string): string => readFileSync(join(path, file), 'utf8');

/** Groups that nobody needs any more, the innermost first. */
export function removeEmpty(paths: readonly string[]): void {
  for (const path of paths)
    if (existsSync(path) && directoriesIn(path).length === 0) rmdirSync(path);
}

/** Ends the processes of a group and of those below, then takes the directories away. */
export async function removeTree(path: string): Promise<void> {
  for (let attempt = 0; existsSync(path); attempt += 1) {
    try {
      killAll(path);
      removeDirectories(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') continue;
      if (code !== 'EBUSY' || attempt >= removal.attempts) throw error;
      await passed(removal.everyMs);
    }
  }
}

/** Kernels since 5.14 end a whole group at once, and nobody escapes by forking. */
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

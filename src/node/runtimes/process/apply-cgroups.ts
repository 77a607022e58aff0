// Control groups (version 2) for containers that have limits. A group is a directory: it stays when its maker is killed, and its
// next run finds it by its name.
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
import { cgroupPlaces } from './cgroup-places.ts';

export type ContainerCgroup = {
  /** Moves a process, and with it what it starts from now on. */
  readonly add: (pid: number) => void;
  /** Throws where the kernel refuses a limit, or processes already use more memory than they may from then on. */
  readonly change: (limits: readonly CgroupLimit[]) => void;
  readonly wasOutOfMemory: () => boolean;
  /** Ends what is left in it. */
  readonly remove: () => Promise<void>;
};

export type Cgroups = {
  /** Throws where the kernel refuses a limit. */
  readonly create: (id: string, limits: readonly CgroupLimit[]) => ContainerCgroup;
};

/** What limits need. */
const controllers = ['cpu', 'memory'] as const;
/** A killed process leaves its group within milliseconds; one that hangs in the kernel may never. */
const removal = { attempts: 100, everyMs: 20 };

/** `why` says what is missing. */
export type OpenedCgroups =
  | { readonly kind: 'there'; readonly cgroups: Cgroups }
  | { readonly kind: 'missing'; readonly why: string };

/** The groups of one agent, which its data directory names. */
export function openCgroups(directory: string): OpenedCgroups {
  const places = readPlaces();
  let why = 'control groups of version 2 are not mounted';
  for (const place of places) {
    try {
      delegate(place);
      return { kind: 'there', cgroups: groupsIn(join(place, nameOf(directory))) };
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  return { kind: 'missing', why };
}

/** What a killed agent with this data directory has left; fine when there is nothing. */
export async function removeCgroups(directory: string): Promise<void> {
  for (const place of readPlaces()) await removeTree(join(place, nameOf(directory)));
}

function readPlaces(): readonly string[] {
  return cgroupPlaces(
    readFileSync('/proc/self/mountinfo', 'utf8'),
    readFileSync('/proc/self/cgroup', 'utf8'),
  );
}

function nameOf(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 8);
  return `fairlead-${basename(directory)}-${hash}`;
}

/** The first container makes the top one, and the last takes it away: an agent without limits leaves no trace. */
function groupsIn(top: string): Cgroups {
  return {
    create(id, limits) {
      mkdirSync(top, { recursive: true });
      enable(top);
      const path = join(top, id);
      mkdirSync(path);
      for (const { file, value } of limits) writeFileSync(join(path, file), value);
      return {
        add: (pid) => moveTo(path, pid),
        change(changed) {
          checkMemory(path, changed);
          for (const { file, value } of changed) writeFileSync(join(path, file), value);
        },
        // Gone when the next run of a killed agent was faster.
        wasOutOfMemory: () => existsSync(path) && hasKilledForMemory(read(path, 'memory.events')),
        async remove() {
          await removeTree(path);
          if (existsSync(top) && directoriesIn(top).length === 0) rmdirSync(top);
        },
      };
    },
  };
}

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
    writeFileSync(join(path, 'cgroup.procs'), String(pid));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENODEV', 'ESRCH'].includes(code)) throw error;
  }
}

/** Makes sure that groups below can have limits. */
function delegate(place: string): void {
  const available = read(place, 'cgroup.controllers').split(/\s/);
  const missing = controllers.filter((name) => !available.includes(name));
  if (missing.length > 0) throw new Error(`${place} has no control of ${missing.join(' and ')}`);
  try {
    enable(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    // Only a group without processes of its own hands limits on; those that are here, we among them, move down.
    const leaf = join(place, 'agent');
    mkdirSync(leaf, { recursive: true });
    for (const pid of read(place, 'cgroup.procs').split('\n').filter(Boolean)) {
      writeFileSync(join(leaf, 'cgroup.procs'), pid);
    }
    enable(place);
  }
}

function enable(path: string): void {
  const enabled = read(path, 'cgroup.subtree_control').split(/\s/);
  for (const name of controllers) {
    if (!enabled.includes(name)) writeFileSync(join(path, 'cgroup.subtree_control'), `+${name}`);
  }
}

const read = (path: string, file: string): string => readFileSync(join(path, file), 'utf8');

/** Ends the processes of a group and of those below, then takes the directories away. */
async function removeTree(path: string): Promise<void> {
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

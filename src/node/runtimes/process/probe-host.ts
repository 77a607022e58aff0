// Probes how containers can be isolated on this machine: with namespaces as root, as root of a user namespace, or not at all.
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { NativeUnavailableError } from '../../../host/native.ts';
import { SystemCallError } from '../../../host/system-call-error.ts';
import type { Step } from '../sandbox/assemble.ts';
import { writeSteps } from '../sandbox/privilege-steps.ts';
import type { HostEntry, HostFiles } from '../sandbox/root-plan.ts';
import { architectureOf, spawnStarter } from '../sandbox/spawn-starter.ts';

export type Isolation =
  | {
      readonly kind: 'namespaces';
      /** The agent's user, if it needs a user namespace to create the others. */
      readonly agent?: { readonly uid: number; readonly gid: number };
      /** Only one user is mapped. */
      readonly isOnlyUser: boolean;
      readonly devices: readonly string[];
      readonly masked: readonly MaskedPath[];
      readonly readOnlyPaths: readonly string[];
    }
  | { readonly kind: 'none'; readonly why: string };

export type MaskedPath = { readonly path: string; readonly isDirectory: boolean };

const newUserNamespace = 0x10000000;
const newMountsAndProcesses = 0x20000 | 0x20000000;

export async function probeIsolation(): Promise<Isolation> {
  if (architectureOf(process.arch) === undefined || process.platform !== 'linux')
    return { kind: 'none', why: `there is no starter for ${process.platform} on ${process.arch}` };
  const agent = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const asUser: readonly Step[] = [
    { call: 'unshare', args: [newUserNamespace], what: 'make a user namespace' },
    ...writeSteps('/proc/self/setgroups', 'deny'),
    ...writeSteps('/proc/self/uid_map', `0 ${agent.uid} 1`),
  ];
  const first = await tryMounts([]);
  if (first === undefined) return { ...isolationPaths(), isOnlyUser: hasOneUser() };
  const second = await tryMounts(asUser);
  if (second === undefined) return { ...isolationPaths(), agent, isOnlyUser: true };
  return { kind: 'none', why: second };
}

/** Undefined if it works. */
async function tryMounts(prefix: readonly Step[]): Promise<string | undefined> {
  const steps: readonly Step[] = [
    ...prefix,
    { call: 'unshare', args: [newMountsAndProcesses], what: 'make namespaces' },
    { call: 'mount', args: ['fairlead', '/proc', 'tmpfs', 0, 0], what: 'make mounts' },
    { call: 'exit_group', args: [0] },
  ];
  try {
    const { problem } = spawnStarter(steps, ['ignore', 'ignore', 'ignore']);
    const failure = await problem;
    return failure && `cannot ${failure.what}: ${failure.code}`;
  } catch (error) {
    if (error instanceof NativeUnavailableError || error instanceof SystemCallError)
      return error.message;
    throw error;
  }
}

/** Devices and kernel files in containers. */
const systemPaths = {
  /** Devices that every program may rely on. */
  devices: ['null', 'zero', 'full', 'random', 'urandom', 'tty'],
  /** Reveal information about the machine, its users or its memory. */
  masked: [
    ...['/proc/acpi', '/proc/asound', '/proc/interrupts', '/proc/kcore', '/proc/keys'],
    ...['/proc/latency_stats', '/proc/sched_debug', '/proc/scsi', '/proc/timer_list'],
    ...['/proc/timer_stats', '/sys/devices/virtual/powercap', '/sys/firmware'],
  ],
  /** Can change the machine. */
  readOnlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
} as const;

function isolationPaths() {
  const { devices, masked, readOnlyPaths } = systemPaths;
  return {
    kind: 'namespaces',
    devices: devices.filter((name) => existsSync(join('/dev', name))),
    masked: masked.flatMap((path) =>
      existsSync(path) ? [{ path, isDirectory: statSync(path).isDirectory() }] : [],
    ),
    readOnlyPaths: readOnlyPaths.filter((path) => existsSync(path)),
  } as const;
}

/** Fields of a line: first id inside, first id outside, count. */
function hasOneUser(): boolean {
  const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
  return lines.length === 1 && lines[0]?.trim().split(/\s+/)[2] === '1';
}

/** Directories of this machine with programs, and without files of users. */
const programDirectories = new Set([
  ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'usr', 'etc', 'opt', 'nix', 'gnu'],
]);

/** All files below a root other than this machine's. */
export const allFiles: HostFiles = {
  entries: (directory) =>
    readdirSync(directory, { withFileTypes: true }).map((entry): HostEntry => {
      const { name } = entry;
      if (entry.isSymbolicLink()) {
        return { name, kind: 'link', target: readlinkSync(join(directory, name)) };
      }
      return { name, kind: entry.isDirectory() ? 'directory' : 'file' };
    }),
  resolve: (path) => quietly(() => realpathSync(path)),
  isDirectory: (path) => quietly(() => statSync(path).isDirectory()) ?? false,
};

const isProgramFile = (path: string): boolean => programDirectories.has(path.split('/')[1] ?? '');

/** The files of this machine that containers see. */
export const hostFiles: HostFiles = {
  entries: (directory) =>
    allFiles
      .entries(directory)
      .filter(({ name }) => directory !== '/' || programDirectories.has(name)),
  resolve(path) {
    const resolved = isProgramFile(path) ? allFiles.resolve(path) : undefined;
    return resolved !== undefined && isProgramFile(resolved) ? resolved : undefined;
  },
  isDirectory: (path) => isProgramFile(path) && allFiles.isDirectory(path),
};

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

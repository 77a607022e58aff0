// Steps that mount what every container has of the kernel: /dev, /proc and /sys, below a directory of which no part is the container's.
import type { Step } from './assemble.ts';
import { bindSteps, directoryStep, fileStep, linkStep, newMount, nothing } from './mount-steps.ts';

export type SystemRoot = {
  /** An empty directory. */
  readonly path: string;
  /** It has all devices, and all of /proc and /sys. */
  readonly isPrivileged: boolean;
  readonly system: SystemView;
};

export type SystemView = {
  /** Devices in every container, as far as they exist. */
  readonly devices: readonly string[];
  /** Paths of /proc and /sys to mask, as far as they exist. */
  readonly masked: readonly { readonly path: string; readonly isDirectory: boolean }[];
  readonly readOnlyPaths: readonly string[];
  /** The terminal to mount at /dev/console. */
  readonly console?: string;
  /** It shares the PID namespace of the node. */
  readonly hasHostPID: boolean;
  /** The pod's /dev/shm; absent: it has its own. */
  readonly sharedMemory?: string;
};

const devOptions = 'mode=755,size=64k';
export const sharedMemoryOptions = 'mode=1777,size=64m';

export function deviceSteps({ path, system, isPrivileged }: SystemRoot): readonly Step[] {
  const dev = `${path}/dev`;
  if (isPrivileged) return bindSteps('/dev', dev, {});
  const masked = { isNoSetuid: true, isNoPrograms: true };
  const pts = `${dev}/pts`;
  const ptsOptions = 'newinstance,ptmxmode=0666,mode=0620';
  return [
    // Device nodes work only in the bind mounts: one that the container creates itself is ignored.
    newMount('tmpfs', dev, { ...masked, isNoDevices: true }, devOptions),
    ...system.devices.flatMap((name) => [
      fileStep(`${dev}/${name}`),
      ...bindSteps(`/dev/${name}`, `${dev}/${name}`, masked),
    ]),
    ...['pts', 'shm', 'mqueue'].map((name) => directoryStep(`${dev}/${name}`)),
    // A user namespace may not map the group of terminals.
    { ...newMount('devpts', pts, masked, `${ptsOptions},gid=5`), onZero: pts, onError: 'next' },
    { ...newMount('devpts', pts, masked, ptsOptions), onError: 'next' },
    nothing(pts),
    ...(system.sharedMemory === undefined
      ? [newMount('tmpfs', `${dev}/shm`, { ...masked, isNoDevices: true }, sharedMemoryOptions)]
      : bindSteps(system.sharedMemory, `${dev}/shm`, { ...masked, isNoDevices: true })),
    // Not available in every kernel.
    {
      ...newMount('mqueue', `${dev}/mqueue`, { ...masked, isNoDevices: true }, ''),
      onError: 'next',
    },
    ...(system.console === undefined
      ? []
      : [fileStep(`${dev}/console`), ...bindSteps(system.console, `${dev}/console`, masked)]),
    linkStep('pts/ptmx', `${dev}/ptmx`),
    linkStep('/proc/self/fd', `${dev}/fd`),
    ...['stdin', 'stdout', 'stderr'].map((name, index) =>
      linkStep(`/proc/self/fd/${index}`, `${dev}/${name}`),
    ),
  ];
}

/** Falls back to the agent's /proc if a new one cannot be mounted: its processes are visible, but not accessible. */
export function procSteps({ path, system, isPrivileged }: SystemRoot): readonly Step[] {
  const proc = `${path}/proc`;
  const flags = { isNoSetuid: true, isNoDevices: true, isNoPrograms: true };
  return [
    { ...newMount('proc', proc, flags, ''), onZero: proc, onError: 'next' },
    ...bindSteps('/proc', proc, flags),
    nothing(proc),
    ...(isPrivileged ? [] : maskSteps(path, '/proc/', system)),
  ];
}

export function sysSteps({ path, system, isPrivileged }: SystemRoot): readonly Step[] {
  const sys = `${path}/sys`;
  const groups = `${sys}/fs/cgroup`;
  const flags = {
    isReadOnly: !isPrivileged,
    isNoSetuid: true,
    isNoDevices: true,
    isNoPrograms: true,
  };
  return [
    { ...newMount('sysfs', sys, flags, ''), onError: 'old sys' },
    { ...newMount('cgroup2', groups, flags, ''), onZero: sys, onError: sys },
    nothing('old sys'),
    ...bindSteps('/sys', sys, flags),
    nothing(sys),
    ...(isPrivileged ? [] : maskSteps(path, '/sys/', system)),
  ];
}

function maskSteps(
  root: string,
  top: string,
  { masked, readOnlyPaths }: SystemView,
): readonly Step[] {
  const isHere = (path: string): boolean => path.startsWith(top);
  return [
    ...masked
      .filter(({ path }) => isHere(path))
      .flatMap(({ path, isDirectory }) =>
        isDirectory
          ? [newMount('tmpfs', root + path, { isReadOnly: true }, 'size=4k')]
          : bindSteps(`${root}/dev/null`, root + path, {}, `hide ${path}`),
      ),
    ...readOnlyPaths
      .filter(isHere)
      .flatMap((path) =>
        bindSteps(root + path, root + path, { isReadOnly: true }, `protect ${path}`),
      ),
  ];
}

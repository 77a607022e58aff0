// Steps that assemble the root file system of a container (root-plan.ts) and change to it. Volumes are mounted after the change: then no
// symbolic link leads out of the root.
import type { Step } from './assemble.ts';
import {
  bindSteps,
  directoryStep,
  fileStep,
  linkStep,
  moveStep,
  newMount,
  nothing,
  pivotSteps,
  privateSteps,
  protectRootStep,
  sameSteps,
} from './mount-steps.ts';
import { ownerlessBindSteps, ownerlessSteps } from './ownerless-steps.ts';
import type { RootStep } from './root-plan.ts';

export type ContainerRoot = {
  /** An empty directory. */
  readonly path: string;
  /** Steps for the root, then for volumes. */
  readonly plan: { readonly root: readonly RootStep[]; readonly volumes: readonly RootStep[] };
  readonly isReadOnly: boolean;
  /** It has all devices, and all of /proc and /sys. */
  readonly isPrivileged: boolean;
  /** Set-user-id programs work. */
  readonly keepsSetuid: boolean;
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

/** Small: containers write to volumes, and to /tmp, /var and the like, which are on disk. */
const rootOptions = 'mode=755,size=64m';
const devOptions = 'mode=755,size=64k';
export const sharedMemoryOptions = 'mode=1777,size=64m';

export function rootSteps(root: ContainerRoot): readonly Step[] {
  const { path, plan, isPrivileged } = root;
  const staged = plan.volumes.filter((step) => step.kind === 'bind');
  return [
    ...privateSteps,
    newMount('tmpfs', path, { isNoSetuid: true, isNoDevices: true }, rootOptions),
    ...['/proc', '/sys', '/dev', originalsPath, stagingPath].map((destination) =>
      directoryStep(path + destination),
    ),
    ...(isPrivileged ? bindSteps('/dev', `${path}/dev`, {}) : deviceSteps(root)),
    ...(plan.root.some((step) => isOwnerless(step, root)) ? ownerlessSteps : []),
    ...plan.root.flatMap((step) => planSteps(step, root)),
    ...procSteps(root),
    ...sysSteps(root),
    ...staged.flatMap((step, index) => stageSteps(step, index, root)),
    ...pivotSteps(path),
    ...volumeSteps(plan.volumes),
    ...(root.isReadOnly ? [protectRootStep] : []),
  ];
}

const originalsPath = '/.fairlead';
/** Volumes are mounted here before the change of the root. */
const stagingPath = '/.fairlead/volumes';

/** Set-user-id programs must keep their owners; there are none in these directories. */
const settingDirectories = ['/etc', '/opt'];

function isOwnerless(step: RootStep, { keepsSetuid }: ContainerRoot): boolean {
  if (step.kind !== 'bind' || step.isOwnerless !== true) return false;
  const isBelow = (top: string): boolean => `${step.source}/`.startsWith(`${top}/`);
  return !keepsSetuid || settingDirectories.some(isBelow);
}

function planSteps(step: RootStep, root: ContainerRoot): readonly Step[] {
  const { path, keepsSetuid } = root;
  const destination = `${path}${step.destination}`;
  switch (step.kind) {
    case 'directory':
      return [directoryStep(destination, step.mode)];
    case 'file':
      return [fileStep(destination)];
    case 'link':
      return [linkStep(step.target, destination)];
    case 'memory':
      return [newMount('tmpfs', destination, { isNoSetuid: true, isNoDevices: true }, rootOptions)];
    case 'hide':
      return hideSteps(destination, step.isDirectory, path);
    case 'bind':
      return (isOwnerless(step, root) ? ownerlessBindSteps : bindSteps)(
        step.source,
        destination,
        { isReadOnly: step.isReadOnly, isNoDevices: true, isNoSetuid: !keepsSetuid },
        `mount ${step.destination}`,
      );
  }
}

function deviceSteps({ path, system }: ContainerRoot): readonly Step[] {
  const dev = `${path}/dev`;
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
function procSteps({ path, system, isPrivileged }: ContainerRoot): readonly Step[] {
  const proc = `${path}/proc`;
  const flags = { isNoSetuid: true, isNoDevices: true, isNoPrograms: true };
  return [
    { ...newMount('proc', proc, flags, ''), onZero: proc, onError: 'next' },
    ...bindSteps('/proc', proc, flags),
    nothing(proc),
    ...(isPrivileged ? [] : maskSteps(path, '/proc/', system)),
  ];
}

function sysSteps({ path, system, isPrivileged }: ContainerRoot): readonly Step[] {
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

type Bind = Extract<RootStep, { readonly kind: 'bind' }>;

function stageSteps(
  step: Bind,
  index: number,
  { path, keepsSetuid, isPrivileged }: ContainerRoot,
): readonly Step[] {
  const { source, isDirectory, isReadOnly, descriptor, masked = [] } = step;
  const destination = `${path}${stagingPath}/${index}`;
  const what = `mount ${step.destination}`;
  const flags = { isReadOnly, isNoSetuid: !keepsSetuid, isNoDevices: !isPrivileged };
  return [
    isDirectory === false ? fileStep(destination) : directoryStep(destination),
    ...bindSteps(source, destination, flags, what),
    ...(descriptor === undefined ? [] : sameSteps(destination, descriptor)),
    ...masked.flatMap((one) => hideSteps(`${destination}/${one.path}`, one.isDirectory, path)),
  ];
}

function hideSteps(destination: string, isDirectory: boolean, root: string): readonly Step[] {
  return isDirectory
    ? [newMount('tmpfs', destination, { isReadOnly: true }, 'mode=0,size=4k')]
    : bindSteps(`${root}/dev/null`, destination, { isReadOnly: true }, `hide ${destination}`);
}

function volumeSteps(steps: readonly RootStep[]): readonly Step[] {
  let index = 0;
  return steps.flatMap((step): readonly Step[] => {
    if (step.kind === 'directory') return [directoryStep(step.destination, step.mode)];
    if (step.kind === 'file') return [fileStep(step.destination)];
    if (step.kind !== 'bind') return [];
    index += 1;
    return [moveStep(`${stagingPath}/${index - 1}`, step.destination, `mount ${step.destination}`)];
  });
}

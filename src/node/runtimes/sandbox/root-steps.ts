// Puts the file system of a container together, out of what root-plan.ts says, and changes to it. Volumes come after the change: by then every
// path, whatever links it leads through, ends inside.
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
  /** An empty directory of the agent's. */
  readonly path: string;
  /** What makes the root, then what is mounted into it. */
  readonly plan: { readonly root: readonly RootStep[]; readonly volumes: readonly RootStep[] };
  readonly isReadOnly: boolean;
  /** It sees and may do what root on the machine may: all devices, all of /proc and /sys. */
  readonly isPrivileged: boolean;
  /** Programs with the set-user-id bit keep it. */
  readonly keepsSetuid: boolean;
  readonly system: SystemView;
};

export type SystemView = {
  /** Devices of the machine that every container has; those that are there. */
  readonly devices: readonly string[];
  /** Files and directories of /proc and /sys that tell of the machine or change it; those that are there. */
  readonly hidden: readonly { readonly path: string; readonly isDirectory: boolean }[];
  readonly fixed: readonly string[];
  /** The terminal to be seen as /dev/console. */
  readonly console?: string;
  /** It shares the processes of the node. */
  readonly hasHostPID: boolean;
  /** Of the pod; absent: one of its own. */
  readonly sharedMemory?: string;
};

/** Small: what a container writes outside of its volumes and /tmp, /var and the like goes to the disk. */
const rootOptions = 'mode=755,size=64m';
const devOptions = 'mode=755,size=64k';
export const sharedMemoryOptions = 'mode=1777,size=64m';

export function rootSteps(root: ContainerRoot): readonly Step[] {
  const { path, plan, isPrivileged } = root;
  const staged = plan.volumes.filter((step) => step.kind === 'bind');
  return [
    ...privateSteps,
    newMount('tmpfs', path, { isNoSetuid: true, isNoDevices: true }, rootOptions),
    ...['/proc', '/sys', '/dev', keptPlace, stagePlace].map((place) => directoryStep(path + place)),
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

const keptPlace = '/.fairlead';
/** Volumes stand here until the root is the container's. */
const stagePlace = '/.fairlead/volumes';

/** Programs that give rights by their owner must keep him; they lie outside of these. */
const settingDirectories = ['/etc', '/opt'];

function isOwnerless(step: RootStep, { keepsSetuid }: ContainerRoot): boolean {
  if (step.kind !== 'bind' || step.isOwnerless !== true) return false;
  const isBelow = (top: string): boolean => `${step.source}/`.startsWith(`${top}/`);
  return !keepsSetuid || settingDirectories.some(isBelow);
}

function planSteps(step: RootStep, root: ContainerRoot): readonly Step[] {
  const { path, keepsSetuid } = root;
  const place = `${path}${step.place}`;
  switch (step.kind) {
    case 'directory':
      return [directoryStep(place, step.mode)];
    case 'file':
      return [fileStep(place)];
    case 'link':
      return [linkStep(step.target, place)];
    case 'memory':
      return [newMount('tmpfs', place, { isNoSetuid: true, isNoDevices: true }, rootOptions)];
    case 'hide':
      return hideSteps(place, step.isDirectory, path);
    case 'bind':
      return (isOwnerless(step, root) ? ownerlessBindSteps : bindSteps)(
        step.source,
        place,
        { isReadOnly: step.isReadOnly, isNoDevices: true, isNoSetuid: !keepsSetuid },
        `mount ${step.place}`,
      );
  }
}

function deviceSteps({ path, system }: ContainerRoot): readonly Step[] {
  const dev = `${path}/dev`;
  const hidden = { isNoSetuid: true, isNoPrograms: true };
  const pts = `${dev}/pts`;
  const ptsOptions = 'newinstance,ptmxmode=0666,mode=0620';
  return [
    // Its devices are mounts of their own: one that the container makes here, such as the disk, opens nothing.
    newMount('tmpfs', dev, { ...hidden, isNoDevices: true }, devOptions),
    ...system.devices.flatMap((name) => [
      fileStep(`${dev}/${name}`),
      ...bindSteps(`/dev/${name}`, `${dev}/${name}`, hidden),
    ]),
    ...['pts', 'shm', 'mqueue'].map((name) => directoryStep(`${dev}/${name}`)),
    // A user namespace may not have the group of terminals.
    { ...newMount('devpts', pts, hidden, `${ptsOptions},gid=5`), onZero: pts, onError: 'next' },
    { ...newMount('devpts', pts, hidden, ptsOptions), onError: 'next' },
    nothing(pts),
    ...(system.sharedMemory === undefined
      ? [newMount('tmpfs', `${dev}/shm`, { ...hidden, isNoDevices: true }, sharedMemoryOptions)]
      : bindSteps(system.sharedMemory, `${dev}/shm`, { ...hidden, isNoDevices: true })),
    // Not every kernel has it.
    {
      ...newMount('mqueue', `${dev}/mqueue`, { ...hidden, isNoDevices: true }, ''),
      onError: 'next',
    },
    ...(system.console === undefined
      ? []
      : [fileStep(`${dev}/console`), ...bindSteps(system.console, `${dev}/console`, hidden)]),
    linkStep('pts/ptmx', `${dev}/ptmx`),
    linkStep('/proc/self/fd', `${dev}/fd`),
    ...['stdin', 'stdout', 'stderr'].map((name, index) =>
      linkStep(`/proc/self/fd/${index}`, `${dev}/${name}`),
    ),
  ];
}

/** Where the machine lets nobody mount it anew, the agent's: its processes are then seen, though not touched. */
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

function maskSteps(root: string, top: string, { hidden, fixed }: SystemView): readonly Step[] {
  const isHere = (path: string): boolean => path.startsWith(top);
  return [
    ...hidden
      .filter(({ path }) => isHere(path))
      .flatMap(({ path, isDirectory }) =>
        isDirectory
          ? [newMount('tmpfs', root + path, { isReadOnly: true }, 'size=4k')]
          : bindSteps(`${root}/dev/null`, root + path, {}, `hide ${path}`),
      ),
    ...fixed
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
  const { source, isDirectory, isReadOnly, descriptor, hidden = [] } = step;
  const place = `${path}${stagePlace}/${index}`;
  const what = `mount ${step.place}`;
  const flags = { isReadOnly, isNoSetuid: !keepsSetuid, isNoDevices: !isPrivileged };
  return [
    isDirectory === false ? fileStep(place) : directoryStep(place),
    ...bindSteps(source, place, flags, what),
    ...(descriptor === undefined ? [] : sameSteps(place, descriptor)),
    ...hidden.flatMap((one) => hideSteps(`${place}/${one.path}`, one.isDirectory, path)),
  ];
}

function hideSteps(place: string, isDirectory: boolean, root: string): readonly Step[] {
  return isDirectory
    ? [newMount('tmpfs', place, { isReadOnly: true }, 'mode=0,size=4k')]
    : bindSteps(`${root}/dev/null`, place, { isReadOnly: true }, `hide ${place}`);
}

function volumeSteps(steps: readonly RootStep[]): readonly Step[] {
  let index = 0;
  return steps.flatMap((step): readonly Step[] => {
    if (step.kind === 'directory') return [directoryStep(step.place, step.mode)];
    if (step.kind === 'file') return [fileStep(step.place)];
    if (step.kind !== 'bind') return [];
    index += 1;
    return [moveStep(`${stagePlace}/${index - 1}`, step.place, `mount ${step.place}`)];
  });
}

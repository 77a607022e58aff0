// Steps that assemble the root file system of a container (root-plan.ts) and change to it. Volumes are mounted after the change: then no
// symbolic link leads out of the root.
import type { Step } from './assemble.ts';
import { imageSteps } from './image-steps.ts';
import {
  bindSteps,
  directoryStep,
  fileStep,
  linkStep,
  moveStep,
  newMount,
  pivotSteps,
  privateSteps,
  protectRootStep,
  sameSteps,
} from './mount-steps.ts';
import { ownerlessBindSteps, ownerlessSteps } from './ownerless-steps.ts';
import type { BindStep, RootStep } from './root-plan.ts';
import { deviceSteps, procSteps, type SystemRoot, sysSteps } from './system-steps.ts';

export type ContainerRoot = SystemRoot & {
  /** Steps for the root, then for volumes. */
  readonly plan: { readonly root: readonly RootStep[]; readonly volumes: readonly RootStep[] };
  readonly isReadOnly: boolean;
  /** Set-user-id programs work. */
  readonly keepsSetuid: boolean;
};

/** Small: containers write to volumes, and to /tmp, /var and the like, which are on disk. */
const rootOptions = 'mode=755,size=64m';

export function rootSteps(root: ContainerRoot): readonly Step[] {
  const { path, plan } = root;
  const staged = plan.volumes.filter((step) => step.kind === 'bind');
  return [
    ...privateSteps,
    newMount('tmpfs', path, { isNoSetuid: true, isNoDevices: true }, rootOptions),
    ...['/proc', '/sys', '/dev', originalsPath, stagingPath].map((destination) =>
      directoryStep(path + destination),
    ),
    ...deviceSteps(root),
    ...(plan.root.some((step) => isOwnerless(step, root)) ? ownerlessSteps : []),
    ...plan.root.flatMap((step) => planSteps(step, root)),
    ...procSteps(root),
    ...sysSteps(root),
    ...staged.flatMap((step, index) =>
      stageSteps(step, { base: path, destination: `${path}${stagingPath}/${index}`, ...root }),
    ),
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

type Stage = Pick<ContainerRoot, 'keepsSetuid' | 'isPrivileged'> & {
  readonly base: string;
  readonly destination: string;
};

/** Mounts a volume outside of the container's own files. `base` has `/dev/null`. */
export function stageSteps(
  step: BindStep,
  { base, destination, keepsSetuid, isPrivileged }: Stage,
): readonly Step[] {
  const { source, isDirectory, isReadOnly, descriptor, masked = [] } = step;
  const what = `mount ${step.destination}`;
  if (step.image !== undefined) {
    const flags = { isReadOnly: true, isNoSetuid: true, isNoDevices: true };
    return [directoryStep(destination), ...imageSteps(step.image, destination, flags)];
  }
  const flags = { isReadOnly, isNoSetuid: !keepsSetuid, isNoDevices: !isPrivileged };
  return [
    isDirectory === false ? fileStep(destination) : directoryStep(destination),
    ...bindSteps(source, destination, flags, what),
    ...(descriptor === undefined ? [] : sameSteps(destination, descriptor)),
    ...masked.flatMap((one) => hideSteps(`${destination}/${one.path}`, one.isDirectory, base)),
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
    return [attachStep(step, `${stagingPath}/${index - 1}`, step.destination)];
  });
}

/** In the new root: links of an image lead to nothing else. */
export function attachStep(
  { imagePath }: Pick<BindStep, 'imagePath'>,
  staged: string,
  destination: string,
): Step {
  const what = `mount ${destination}`;
  return imagePath === undefined
    ? moveStep(staged, destination, what)
    : { call: 'mount', args: [`${staged}/${imagePath}`, destination, 0, bind, 0], what };
}

const bind = 0x1000;

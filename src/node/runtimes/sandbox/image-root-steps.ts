// Steps that assemble the root file system of a container from an image and change to it. Nothing of an image is trusted: every mount is made
// in a directory that is ours, and moved to its place after the change of the root, where a link of the image leads to nothing but the image.
import type { Step } from './assemble.ts';
import { type ImageFiles, imageSteps, stagingName } from './image-steps.ts';
import {
  bindSteps,
  directoryStep,
  fileStep,
  moveStep,
  newMount,
  pivotSteps,
  privateSteps,
  protectRootStep,
} from './mount-steps.ts';
import { type PlannedMount, volumeStep } from './root-plan.ts';
import { attachStep, stageSteps } from './root-steps.ts';
import { deviceSteps, procSteps, type SystemRoot, sysSteps } from './system-steps.ts';

export type ImageRoot = SystemRoot & {
  readonly files: ImageFiles;
  readonly mounts: readonly PlannedMount[];
  /** Created if they are missing. */
  readonly directories: readonly string[];
  /** Directories that can be written to although the root is read-only. */
  readonly writable: readonly string[];
  readonly isReadOnly: boolean;
  /** Set-user-id programs work. */
  readonly keepsSetuid: boolean;
};

const staging = `/${stagingName}`;

export function imageRootSteps(root: ImageRoot): readonly Step[] {
  const { path, files, mounts, keepsSetuid } = root;
  const own = path + staging;
  const flags = { isNoDevices: true, isNoSetuid: !keepsSetuid };
  const system = { ...root, path: own };
  const ordered = [...mounts].sort((a, b) => namesOf(a.path).length - namesOf(b.path).length);
  return [
    ...privateSteps,
    ...imageSteps(files, path, flags),
    newMount('tmpfs', own, { isNoSetuid: true, isNoDevices: true }, 'mode=700,size=64k'),
    ...['/proc', '/sys', '/dev', '/volumes'].map((name) => directoryStep(own + name)),
    ...deviceSteps(system),
    ...procSteps(system),
    ...sysSteps(system),
    ...ordered.flatMap((mount, index) =>
      stageSteps(volumeStep(mount, mount.path), {
        ...root,
        base: own,
        destination: `${own}/volumes/${index}`,
      }),
    ),
    ...pivotSteps(path),
    ...moveToSteps('/dev'),
    ...ordered.flatMap((mount, index) => mountSteps(mount, `${staging}/volumes/${index}`)),
    ...root.directories.flatMap(directoriesTo),
    ...root.writable.flatMap((directory) => bindSteps(directory, directory, {})),
    ...moveToSteps('/sys'),
    // Last: through /proc/PID/root a path could lead to the files of other processes that the container sees.
    ...moveToSteps('/proc'),
    { call: 'umount2', args: [staging, detach], what: `unmount ${staging}` },
    { call: 'unlinkat', args: [currentDirectory, staging, removeDirectory], onError: 'next' },
    ...(root.isReadOnly ? [protectRootStep] : []),
  ];
}

const detach = 2;
const currentDirectory = -100;
const removeDirectory = 0x200;

/** In the new root. */
function mountSteps(mount: PlannedMount, staged: string): readonly Step[] {
  const { path, isDirectory, replaces = false } = mount;
  const names = namesOf(path);
  const above = `/${names.slice(0, -1).join('/')}`;
  return [
    ...directoriesTo(above),
    // Of an image it may be a link that leads nowhere.
    ...(replaces
      ? [{ call: 'unlinkat', args: [currentDirectory, path, 0], onError: 'next' } as const]
      : []),
    ...(names.length === 0 ? [] : [isDirectory ? directoryStep(path) : fileStep(path)]),
    attachStep(mount, staged, path),
  ];
}

const moveToSteps = (path: string): readonly Step[] => [
  directoryStep(path),
  moveStep(staging + path, path, `mount ${path}`),
];

/** The directory and those above it, as far as they are missing. */
function directoriesTo(path: string): readonly Step[] {
  const names = namesOf(path);
  return names.map((_, index) => directoryStep(`/${names.slice(0, index + 1).join('/')}`));
}

const namesOf = (path: string): readonly string[] =>
  path.split('/').filter((name) => name !== '' && name !== '.');

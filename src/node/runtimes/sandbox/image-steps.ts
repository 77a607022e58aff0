// Steps that mount the files of an image, and those of a process that only holds them, so that they can be read.
import type { Step } from './assemble.ts';
import {
  bindSteps,
  type MountFlags,
  mountBits,
  nothing,
  pivotSteps,
  privateSteps,
} from './mount-steps.ts';
import { type AgentUser, userSteps } from './user-steps.ts';

/** The files of an image. */
export type ImageFiles =
  | {
      readonly kind: 'overlay';
      /** A directory of links to the layers: `0` is the top one. The kernel takes a page of options, too little for many full paths. */
      readonly links: string;
      readonly count: number;
      /** The layers were unpacked in a user namespace. */
      readonly isOfUser: boolean;
      /** Directories for what the container writes, relative to the links; absent: read-only. */
      readonly upper?: string;
      readonly work?: string;
    }
  /** Of this container alone. */
  | { readonly kind: 'copy'; readonly path: string };

/** In the upper directory or copy, where the caller has created it: whatever an image has of that name is hidden. */
export const stagingName = '.fairlead';

export function imageSteps(files: ImageFiles, path: string, flags: MountFlags): readonly Step[] {
  const what = 'mount the image';
  if (files.kind === 'copy') return bindSteps(files.path, path, flags, what);
  const { links, count, isOfUser, upper, work } = files;
  const layers = Array.from({ length: count }, (_, index) => String(index)).join(':');
  const options = [
    `lowerdir=${layers}`,
    ...(upper === undefined ? [] : [`upperdir=${upper}`, `workdir=${work}`]),
    ...(isOfUser ? ['userxattr'] : []),
  ].join(',');
  const mount = (data: string): Step => ({
    call: 'mount',
    args: ['overlay', path, 'overlay', mountBits(flags), data],
    what,
  });
  const done = `mounted ${path}`;
  return [
    { call: 'chdir', args: [links], what: 'enter the layers' },
    // What a container writes ends with it, so nothing needs to be synced to disk. Since Linux 5.10.
    ...(upper === undefined
      ? []
      : [{ ...mount(`${options},volatile`), onZero: done, onError: 'next' }]),
    mount(options),
    nothing(done),
    { call: 'chdir', args: ['/'] },
  ];
}

const newMountNamespace = 0x20000;
const setDeathSignal = 1;
const kill = 9;
const setMask = 2;
const signalSetBytes = 8;
const everySignal = Buffer.alloc(signalSetBytes, 0xff);
const reportDescriptor = 3;

/** Mounts the image in a namespace of its own. */
export const tryImageSteps = (
  files: ImageFiles,
  path: string,
  agent: AgentUser | undefined,
): readonly Step[] => [
  { call: 'prctl', args: [setDeathSignal, kill, 0, 0, 0] },
  ...(agent === undefined ? [] : userSteps(agent)),
  { call: 'unshare', args: [newMountNamespace], what: 'make a namespace for mounts' },
  ...privateSteps,
  ...imageSteps(files, path, { isReadOnly: true, isNoDevices: true, isNoSetuid: true }),
];

/** The process runs until it is killed: /proc/PID/root leads to the image. Nothing of the image is executed. */
export function holdImageSteps(
  files: ImageFiles,
  path: string,
  agent: AgentUser | undefined,
): readonly Step[] {
  return [
    ...tryImageSteps(files, path, agent),
    ...pivotSteps(path),
    { call: 'rt_sigprocmask', args: [setMask, everySignal, 0, signalSetBytes] },
    { call: 'close', args: [reportDescriptor] },
    {
      label: 'rest',
      call: 'rt_sigtimedwait',
      args: [everySignal, 0, 0, signalSetBytes],
      onZero: 'rest',
      onPositive: 'rest',
      onError: 'rest',
    },
  ];
}

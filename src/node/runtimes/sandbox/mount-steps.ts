// Mounts, as steps.
import type { Step } from './assemble.ts';

// Flags of mount().
const readOnly = 1;
const noSetuid = 2;
const noDevices = 4;
const noPrograms = 8;
const remount = 32;
const bind = 0x1000;
const move = 0x2000;
const recursive = 0x4000;
const makePrivate = 0x40000;

/** AT_FDCWD. */
const here = -100;
const withAllBelow = 0x8000;
const regularFile = 0o100000;

export type MountFlags = {
  readonly isReadOnly?: boolean;
  readonly isNoSetuid?: boolean;
  readonly isNoDevices?: boolean;
  readonly isNoPrograms?: boolean;
};

export const mountBits = ({
  isReadOnly,
  isNoSetuid,
  isNoDevices,
  isNoPrograms,
}: MountFlags): number =>
  (isReadOnly ? readOnly : 0) |
  (isNoSetuid ? noSetuid : 0) |
  (isNoDevices ? noDevices : 0) |
  (isNoPrograms ? noPrograms : 0);

export const privateSteps: readonly Step[] = [
  { call: 'mount', args: [0, '/', 0, recursive | makePrivate], what: 'make mounts private' },
];

export function newMount(type: string, place: string, flags: MountFlags, data: string): Step {
  return {
    call: 'mount',
    args: ['fairlead', place, type, mountBits(flags), data],
    what: `mount ${type} at ${place}`,
  };
}

/** Shows a directory or a file at another place, with all that is mounted below. */
export function bindSteps(
  source: string,
  place: string,
  flags: MountFlags,
  what = `mount ${source}`,
): readonly Step[] {
  return [
    { call: 'mount', args: [source, place, 0, bind | recursive, 0], what },
    ...changeSteps(place, flags, what),
  ];
}

/** Adds flags to a mount and those below it. Kernels before 5.12 change the mount alone. */
function changeSteps(place: string, flags: MountFlags, what: string): readonly Step[] {
  const set = mountBits(flags);
  if (set === 0) return [];
  // The same numbers as for mount(): struct mount_attr, what is set first.
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(set);
  const done = `changed ${place} ${what}`;
  return [
    {
      call: 'mount_setattr',
      args: [here, place, withAllBelow, attributes, attributes.length],
      onZero: done,
      onError: 'next',
      what,
    },
    { call: 'mount', args: [0, place, 0, remount | bind | set, 0], what },
    nothing(done),
  ];
}

/** For others to go on at. */
export const nothing = (label: string): Step => ({
  label,
  call: 'subtract',
  args: [{ cell: 'zero' }, { cell: 'zero' }],
});

export const moveStep = (source: string, place: string, what: string): Step => ({
  call: 'mount',
  args: [source, place, 0, move, 0],
  what,
});

/** Fine when it is there: who needs it, and finds something else, says so. */
export const directoryStep = (place: string, mode = 0o755): Step => ({
  call: 'mkdirat',
  args: [here, place, mode],
  onError: 'next',
});

export const fileStep = (place: string): Step => ({
  call: 'mknodat',
  args: [here, place, regularFile | 0o644, 0],
  onError: 'next',
});

export const linkStep = (target: string, place: string): Step => ({
  call: 'symlinkat',
  args: [target, here, place],
  what: `link ${place}`,
});

const emptyPath = 0x1000;
const basicFacts = 0x7ff;
/** Halves of the inode's number, and the device's two numbers, in struct statx. */
const identityOffsets = [32, 36, 136, 140];
const swapped = 'swapped';

/**
 * Goes on only where a place is what a descriptor was opened for. The kernel mounts nothing by a descriptor of another mount namespace: it is
 * mounted by its path, which somebody may have led elsewhere meanwhile.
 */
export function sameSteps(place: string, descriptor: number): readonly Step[] {
  const found = `found ${place}`;
  const wanted = `wanted ${place}`;
  return [
    {
      call: 'statx',
      args: [here, place, 0, basicFacts, { cell: found }],
      what: `look at ${place}`,
    },
    {
      call: 'statx',
      args: [descriptor, '', emptyPath, basicFacts, { cell: wanted }],
      what: `look at the source of ${place}`,
    },
    ...identityOffsets.map(
      (offset): Step => ({
        call: 'subtract',
        args: [
          { cell: found, offset },
          { cell: wanted, offset },
        ],
        onPositive: swapped,
        onError: swapped,
      }),
    ),
  ];
}

/** Behind all other steps, for sameSteps(). */
export const swappedStep: Step = {
  label: swapped,
  call: 'close',
  args: [-1],
  what: 'mount a volume whose path was changed meanwhile',
};

const detach = 2;

/** The root becomes the directory, which is a mount, and what was the root is out of reach. */
export function pivotSteps(root: string): readonly Step[] {
  return [
    { call: 'chdir', args: [root], what: 'enter the root' },
    { call: 'pivot_root', args: ['.', '.'], what: 'change the root' },
    { call: 'umount2', args: ['.', detach], what: 'leave the old root' },
    { call: 'chdir', args: ['/'] },
  ];
}

/** The root alone: volumes are as they were asked for. */
export const protectRootStep: Step = {
  call: 'mount',
  args: [0, '/', 0, remount | bind | readOnly | noSetuid | noDevices, 0],
  what: 'make the root read-only',
};

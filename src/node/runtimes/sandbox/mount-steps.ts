// Steps for mounts.
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
const currentDirectory = -100;
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

export function newMount(type: string, destination: string, flags: MountFlags, data: string): Step {
  return {
    call: 'mount',
    args: ['fairlead', destination, type, mountBits(flags), data],
    what: `mount ${type} at ${destination}`,
  };
}

/** Bind-mounts a directory or file, recursively. */
export function bindSteps(
  source: string,
  destination: string,
  flags: MountFlags,
  what = `mount ${source}`,
): readonly Step[] {
  return [
    { call: 'mount', args: [source, destination, 0, bind | recursive, 0], what },
    ...changeSteps(destination, flags, what),
  ];
}

/** Sets flags of a mount and those below it. Kernels before 5.12 change only the mount itself. */
function changeSteps(destination: string, flags: MountFlags, what: string): readonly Step[] {
  const set = mountBits(flags);
  if (set === 0) return [];
  // struct mount_attr, with the same flags as mount(); attr_set is first.
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(set);
  const done = `changed ${destination} ${what}`;
  return [
    {
      call: 'mount_setattr',
      args: [currentDirectory, destination, withAllBelow, attributes, attributes.length],
      onZero: done,
      onError: 'next',
      what,
    },
    { call: 'mount', args: [0, destination, 0, remount | bind | set, 0], what },
    nothing(done),
  ];
}

/** Does nothing; a target of jumps. */
export const nothing = (label: string): Step => ({
  label,
  call: 'subtract',
  args: [{ cell: 'zero' }, { cell: 'zero' }],
});

export const moveStep = (source: string, destination: string, what: string): Step => ({
  call: 'mount',
  args: [source, destination, 0, move, 0],
  what,
});

/** Ignores an existing one; if it is not a directory, later steps fail. */
export const directoryStep = (destination: string, mode = 0o755): Step => ({
  call: 'mkdirat',
  args: [currentDirectory, destination, mode],
  onError: 'next',
});

export const fileStep = (destination: string): Step => ({
  call: 'mknodat',
  args: [currentDirectory, destination, regularFile | 0o644, 0],
  onError: 'next',
});

export const linkStep = (target: string, destination: string): Step => ({
  call: 'symlinkat',
  args: [target, currentDirectory, destination],
  what: `link ${destination}`,
});

const emptyPath = 0x1000;
const basicFacts = 0x7ff;
/** Offsets in struct statx: both halves of the inode number, and of the device number. */
const identityOffsets = [32, 36, 136, 140];
const changed = 'changed';

/**
 * Continues only if a path still leads to what a descriptor was opened for. The kernel does not mount by a descriptor of another mount
 * namespace: it is mounted by its path, which may have been changed meanwhile.
 */
export function sameSteps(destination: string, descriptor: number): readonly Step[] {
  const actual = `actual ${destination}`;
  const wanted = `wanted ${destination}`;
  return [
    {
      call: 'statx',
      args: [currentDirectory, destination, 0, basicFacts, { cell: actual }],
      what: `stat ${destination}`,
    },
    {
      call: 'statx',
      args: [descriptor, '', emptyPath, basicFacts, { cell: wanted }],
      what: `stat the source of ${destination}`,
    },
    ...identityOffsets.map(
      (offset): Step => ({
        call: 'subtract',
        args: [
          { cell: actual, offset },
          { cell: wanted, offset },
        ],
        onPositive: changed,
        onError: changed,
      }),
    ),
  ];
}

/** After all other steps, for sameSteps(). */
export const swappedStep: Step = {
  label: changed,
  call: 'close',
  args: [-1],
  what: 'mount a volume whose path was changed meanwhile',
};

const detach = 2;

/** Makes the directory, which is a mount, the root, and detaches the old one. */
export function pivotSteps(root: string): readonly Step[] {
  return [
    { call: 'chdir', args: [root], what: 'enter the root' },
    { call: 'pivot_root', args: ['.', '.'], what: 'change the root' },
    { call: 'umount2', args: ['.', detach], what: 'leave the old root' },
    { call: 'chdir', args: ['/'] },
  ];
}

/** Only the root: volumes keep their flags. */
export const protectRootStep: Step = {
  call: 'mount',
  args: [0, '/', 0, remount | bind | readOnly | noSetuid | noDevices, 0],
  what: 'make the root read-only',
};

// Mounts directories of the machine in which no file has a mapped owner: idmapped mounts with a user namespace that maps none of the
// owners. Root in a container then reads only what all users may read, including files created later. Masking single files would hold only
// until they are replaced, because the mask disappears with the file. Kernel: mount_setattr(2).
import type { Step } from './assemble.ts';
import { bindSteps, type MountFlags, mountBits, nothing } from './mount-steps.ts';

const currentDirectory = -100;
// Of clone(): both processes share descriptors.
const newUserNamespace = 0x10000000;
const sharedDescriptors = 0x400;
const childEnded = 17;
// Of waitid().
const oneProcess = 1;
const exited = 4;
const writeOnly = 1;
const duplicate = 0;
/** High enough to be free, low enough for every limit. */
const namespaceDescriptor = 200;
const treeDescriptor = 201;
// Of open_tree(), mount_setattr() and move_mount().
const cloneTree = 1;
const withAllBelow = 0x8000;
const emptyPath = 0x1000;
const emptySource = 4;
const mapOwners = 0x100000;

const ready = 'owners ready';
const inside = 'owners inside';
const end = 'owners end';
const wait = 'owners wait';
const open = 'owners open';

/**
 * Creates the user namespace, and leaves its descriptor open. It maps a single user: the highest id, which owns no file. If the machine
 * does not permit it, the descriptor is missing, and mounts are plain ones.
 */
export const ownerlessSteps: readonly Step[] = [
  {
    call: 'clone',
    args: [newUserNamespace | sharedDescriptors | childEnded],
    result: { argumentOf: wait, index: 1 },
    onZero: inside,
    onError: ready,
  },
  {
    label: wait,
    call: 'waitid',
    args: [oneProcess, 0, { cell: wait }, exited, 0],
    onZero: ready,
    onError: ready,
  },
  nothing(inside),
  ...writeSteps('/proc/self/setgroups', 'deny'),
  ...writeSteps('/proc/self/uid_map', '4294967294 0 1'),
  ...writeSteps('/proc/self/gid_map', '4294967294 0 1'),
  {
    call: 'openat',
    args: [currentDirectory, '/proc/self/ns/user', 0, 0],
    result: { argumentOf: open, index: 0 },
    onError: end,
  },
  { label: open, call: 'fcntl', args: [0, duplicate, namespaceDescriptor], onError: end },
  { label: end, call: 'exit_group', args: [0] },
  nothing(ready),
];

function writeSteps(path: string, text: string): readonly Step[] {
  const label = `owners ${path}`;
  return [
    {
      call: 'openat',
      args: [currentDirectory, path, writeOnly, 0],
      result: { argumentOf: label, index: 0 },
      onError: end,
    },
    { label, call: 'write', args: [0, text, Buffer.byteLength(text)], onError: end },
  ];
}

/** Falls back to bindSteps(): not every file system and kernel supports it. */
export function ownerlessBindSteps(
  source: string,
  destination: string,
  flags: MountFlags,
  what: string,
): readonly Step[] {
  const at = (name: string): string => `owners of ${destination} ${name}`;
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(mountBits(flags) | mapOwners);
  attributes.writeUInt32LE(namespaceDescriptor, 24);
  return [
    {
      call: 'open_tree',
      args: [currentDirectory, source, cloneTree | withAllBelow],
      result: { argumentOf: at('tree'), index: 0 },
      onError: at('plain'),
    },
    {
      label: at('tree'),
      call: 'fcntl',
      args: [0, duplicate, treeDescriptor],
      onError: at('plain'),
    },
    {
      call: 'mount_setattr',
      args: [treeDescriptor, '', emptyPath | withAllBelow, attributes, attributes.length],
      onError: at('close'),
    },
    {
      call: 'move_mount',
      args: [treeDescriptor, '', currentDirectory, destination, emptySource],
      onError: at('close'),
    },
    { call: 'close', args: [treeDescriptor], onZero: at('done'), onError: at('done') },
    { label: at('close'), call: 'close', args: [treeDescriptor], onError: 'next' },
    nothing(at('plain')),
    ...bindSteps(source, destination, flags, what),
    nothing(at('done')),
  ];
}

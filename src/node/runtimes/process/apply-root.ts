// Prepares the directories of a container's root file system, and describes its mounts.
import { chmodSync, fstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PseudoTerminal } from '../../../host/pseudo-terminal.ts';
import type { ContainerToRun, Mount } from '../runtime.ts';
import type { ImageRoot } from '../sandbox/image-root-steps.ts';
import type { ImageFiles } from '../sandbox/image-steps.ts';
import { type PlannedMount, planRoot } from '../sandbox/root-plan.ts';
import type { ContainerRoot } from '../sandbox/root-steps.ts';
import type { ContainerProcess } from './container-process.ts';
import { allFiles, hostFiles, type Isolation } from './probe-host.ts';

type RootOptions = {
  /** Passes a descriptor to the starter. Returns its number there. */
  readonly passDescriptor: (descriptor: number) => number;
  readonly terminal?: PseudoTerminal;
};

export function makeRoot(
  options: ContainerProcess,
  isolation: Extract<Isolation, { kind: 'namespaces' }>,
  { passDescriptor, terminal }: RootOptions,
): ContainerRoot | ImageRoot {
  const { container, root, workingDir, image, imageVolumes } = options;
  const { directory, security } = container;
  const path = join(directory, 'root');
  mkdirSync(path, { recursive: true });
  const plannedMount = (mount: Mount): PlannedMount =>
    planned(mount, imageVolumes?.get(mount.path), passDescriptor);
  const around = {
    path,
    isReadOnly: security.hasReadOnlyRoot,
    isPrivileged: security.isPrivileged,
    keepsSetuid: !security.hasNoNewPrivileges,
    system: systemView(container, isolation, terminal),
  };
  if (image !== undefined)
    return { ...around, ...image, mounts: container.mounts.map(plannedMount) };
  const mounts = [...container.mounts, ...missingDirectory(container, root, workingDir)];
  return { ...around, plan: planHostRoot(options, mounts.map(plannedMount)) };
}

function planHostRoot(
  { container, root, masked }: ContainerProcess,
  mounts: readonly PlannedMount[],
): ContainerRoot['plan'] {
  const { directory, security } = container;
  const isHost = root === '/';
  return planRoot({
    root,
    mounts,
    host: isHost ? hostFiles : systemless(root),
    isReadOnly: isHost || security.hasReadOnlyRoot,
    isOwnerless: isHost && !security.isPrivileged,
    masked: isHost ? masked : [],
    own: isHost ? ownDirectories(directory, security.hasReadOnlyRoot) : [],
  });
}

function systemView(
  { security, sharedMemory }: ContainerToRun,
  { devices, masked, readOnlyPaths }: Extract<Isolation, { kind: 'namespaces' }>,
  terminal: PseudoTerminal | undefined,
): ContainerRoot['system'] {
  const { hasUnmaskedProc, hasHostPID } = security;
  return {
    devices,
    masked: hasUnmaskedProc ? [] : masked,
    readOnlyPaths: hasUnmaskedProc ? [] : readOnlyPaths,
    hasHostPID,
    ...(terminal === undefined ? {} : { console: terminal.path }),
    ...(sharedMemory === undefined ? {} : { sharedMemory }),
  };
}

function planned(
  { image: _, ...mount }: Mount,
  image: ImageFiles | undefined,
  passDescriptor: RootOptions['passDescriptor'],
): PlannedMount {
  const { descriptor, ...rest } = mount;
  if (image !== undefined) return { ...rest, image, isDirectory: true };
  if (descriptor === undefined)
    return { ...rest, isDirectory: statSync(mount.source).isDirectory() };
  const isDirectory = fstatSync(descriptor).isDirectory();
  return { ...rest, descriptor: passDescriptor(descriptor), isDirectory };
}

/** Without the kernel's own file systems, which are mounted separately. */
function systemless(root: string): typeof allFiles {
  const system = new Set(['proc', 'sys', 'dev']);
  return {
    ...allFiles,
    entries: (directory) =>
      allFiles.entries(directory).filter(({ name }) => directory !== root || !system.has(name)),
  };
}

type OwnDirectory = {
  readonly destination: string;
  readonly source?: string;
  readonly mode: number;
};

/** Writable directories, on disk and removed with the container; empty with a read-only root. */
function ownDirectories(directory: string, isReadOnly: boolean): readonly OwnDirectory[] {
  const bare: readonly OwnDirectory[] = [
    { destination: '/run', mode: 0o755 },
    { destination: '/root', mode: 0o700 },
    { destination: '/home', mode: 0o755 },
    { destination: '/mnt', mode: 0o755 },
  ];
  const written: readonly (readonly [string, number])[] = [
    ['/tmp', 0o1777],
    ['/var', 0o755],
  ];
  if (isReadOnly)
    return [...bare, ...written.map(([destination, mode]) => ({ destination, mode }))];
  const disk = join(directory, 'disk');
  const make = (destination: string, mode: number): void => {
    mkdirSync(join(disk, destination), { recursive: true });
    // Independent of the umask of this process.
    chmodSync(join(disk, destination), mode);
  };
  for (const [destination, mode] of written) make(destination, mode);
  for (const name of ['cache', 'lib', 'log', 'spool']) make(`/var/${name}`, 0o755);
  make('/var/tmp', 0o1777);
  symlinkSync('/run', join(disk, 'var', 'run'));
  return [
    ...bare,
    ...written.map(([destination, mode]) => ({
      destination,
      mode,
      source: join(disk, destination),
    })),
  ];
}

const ownPaths = new Set([
  ...['/run', '/root', '/home', '/mnt', '/tmp', '/var', '/var/cache', '/var/lib', '/var/log'],
  ...['/var/spool', '/var/tmp'],
]);

/** Creates a missing working directory. */
function missingDirectory(
  { directory, mounts }: ContainerToRun,
  root: string,
  path: string,
): readonly Mount[] {
  const isMounted = mounts.some(
    (mount) => path === mount.path || path.startsWith(`${mount.path}/`),
  );
  const files = root === '/' ? hostFiles : allFiles;
  const isOwn = root === '/' && ownPaths.has(path);
  if (path === '/' || isMounted || isOwn || files.isDirectory(join(root, path))) return [];
  const source = join(directory, 'workdir');
  mkdirSync(source, { recursive: true });
  return [{ source, path, isReadOnly: false }];
}

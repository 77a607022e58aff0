// Makes ready what the file system of a container is put together from, and says how.
import { chmodSync, fstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PseudoTerminal } from '../../../host/pseudo-terminal.ts';
import type { ContainerToRun, Mount } from '../runtime.ts';
import { type PlannedMount, planRoot } from '../sandbox/root-plan.ts';
import type { ContainerRoot } from '../sandbox/root-steps.ts';
import type { ContainerProcess } from './container-process.ts';
import { allFiles, hostFiles, type Isolation } from './probe-host.ts';

type Making = {
  /** Hands a descriptor to the starter. Returns what it is there. */
  readonly give: (descriptor: number) => number;
  readonly terminal?: PseudoTerminal;
};

export function makeRoot(
  { container, root, workingDir, hidden }: ContainerProcess,
  isolation: Extract<Isolation, { kind: 'namespaces' }>,
  { give, terminal }: Making,
): ContainerRoot {
  const { directory, security, sharedMemory } = container;
  const isHost = root === '/';
  const path = join(directory, 'root');
  mkdirSync(path, { recursive: true });
  const mounts = [...container.mounts, ...missingDirectory(container, root, workingDir)];
  const plan = planRoot({
    root,
    mounts: mounts.map((mount) => planned(mount, give)),
    host: isHost ? hostFiles : systemless(root),
    isReadOnly: isHost || security.hasReadOnlyRoot,
    isOwnerless: isHost && !security.isPrivileged,
    hidden: isHost ? hidden : [],
    own: isHost ? ownDirectories(directory, security.hasReadOnlyRoot) : [],
  });
  const { isPrivileged, hasUnmaskedProc, hasHostPID } = security;
  const { devices } = isolation;
  return {
    path,
    plan,
    isReadOnly: security.hasReadOnlyRoot,
    isPrivileged,
    keepsSetuid: !security.hasNoNewPrivileges,
    system: {
      devices,
      hidden: hasUnmaskedProc ? [] : isolation.hidden,
      fixed: hasUnmaskedProc ? [] : isolation.fixed,
      hasHostPID,
      ...(terminal === undefined ? {} : { console: terminal.path }),
      ...(sharedMemory === undefined ? {} : { sharedMemory }),
    },
  };
}

function planned(mount: Mount, give: Making['give']): PlannedMount {
  const { descriptor, ...rest } = mount;
  if (descriptor === undefined)
    return { ...rest, isDirectory: statSync(mount.source).isDirectory() };
  const isDirectory = fstatSync(descriptor).isDirectory();
  return { ...rest, descriptor: give(descriptor), isDirectory };
}

/** What the kernel shows is not the root's. */
function systemless(root: string): typeof allFiles {
  const system = new Set(['proc', 'sys', 'dev']);
  return {
    ...allFiles,
    entries: (directory) =>
      allFiles.entries(directory).filter(({ name }) => directory !== root || !system.has(name)),
  };
}

type OwnDirectory = { readonly place: string; readonly source?: string; readonly mode: number };

/** Where programs expect to write. On the disk, and gone with the container; of a root that cannot be written, empty. */
function ownDirectories(directory: string, isReadOnly: boolean): readonly OwnDirectory[] {
  const bare: readonly OwnDirectory[] = [
    { place: '/run', mode: 0o755 },
    { place: '/root', mode: 0o700 },
    { place: '/home', mode: 0o755 },
    { place: '/mnt', mode: 0o755 },
  ];
  const written: readonly (readonly [string, number])[] = [
    ['/tmp', 0o1777],
    ['/var', 0o755],
  ];
  if (isReadOnly) return [...bare, ...written.map(([place, mode]) => ({ place, mode }))];
  const disk = join(directory, 'disk');
  const make = (place: string, mode: number): void => {
    mkdirSync(join(disk, place), { recursive: true });
    // Whatever the mask of this process is.
    chmodSync(join(disk, place), mode);
  };
  for (const [place, mode] of written) make(place, mode);
  for (const name of ['cache', 'lib', 'log', 'spool']) make(`/var/${name}`, 0o755);
  make('/var/tmp', 0o1777);
  symlinkSync('/run', join(disk, 'var', 'run'));
  return [...bare, ...written.map(([place, mode]) => ({ place, mode, source: join(disk, place) }))];
}

const ownPlaces = new Set([
  ...['/run', '/root', '/home', '/mnt', '/tmp', '/var', '/var/cache', '/var/lib', '/var/log'],
  ...['/var/spool', '/var/tmp'],
]);

/** A working directory that is not there is made, empty. */
function missingDirectory(
  { directory, mounts }: ContainerToRun,
  root: string,
  path: string,
): readonly Mount[] {
  const isMounted = mounts.some(
    (mount) => path === mount.path || path.startsWith(`${mount.path}/`),
  );
  const files = root === '/' ? hostFiles : allFiles;
  const isOwn = root === '/' && ownPlaces.has(path);
  if (path === '/' || isMounted || isOwn || files.isDirectory(join(root, path))) return [];
  const source = join(directory, 'workdir');
  mkdirSync(source, { recursive: true });
  return [{ source, path, isReadOnly: false }];
}

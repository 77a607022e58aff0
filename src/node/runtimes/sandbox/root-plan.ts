// Plans the root file system of a container from the host's files without changing the host: a tmpfs onto which directories of the host
// are bind-mounted, then the volumes. If the mount point of a volume does not exist on the host, its nearest existing directory is
// replaced by a tmpfs with links to the original entries.
import type { MaskedPath, Mount } from '../runtime.ts';
import type { ImageFiles } from './image-steps.ts';

/** The host's files, as needed for planning. */
export type HostFiles = {
  readonly entries: (directory: string) => readonly HostEntry[];
  /** The real path; undefined if there is none. */
  readonly resolve: (path: string) => string | undefined;
  readonly isDirectory: (path: string) => boolean;
};

export type HostEntry =
  | { readonly name: string; readonly kind: 'directory' | 'file' }
  | { readonly name: string; readonly kind: 'link'; readonly target: string };

/** Steps in order; sources are paths of the host, destinations are below the new root. */
export type RootStep =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly destination: string;
      readonly isReadOnly: boolean;
      /** Of this machine: no user of the container owns files in it. */
      readonly isOwnerless?: boolean;
      /** Of a volume. */
      readonly isDirectory?: boolean;
      /** A descriptor of the starter, which the source must match. */
      readonly descriptor?: number;
      /** Instead of the source: the files of an image, or what they have at a path. */
      readonly image?: ImageFiles;
      readonly imagePath?: string;
      /** Paths below it to mask. */
      readonly masked?: readonly MaskedPath[];
    }
  | { readonly kind: 'memory'; readonly destination: string }
  | { readonly kind: 'directory'; readonly destination: string; readonly mode?: number }
  | { readonly kind: 'file'; readonly destination: string }
  | { readonly kind: 'link'; readonly target: string; readonly destination: string }
  /** Masks a path. */
  | { readonly kind: 'hide'; readonly destination: string; readonly isDirectory: boolean };

export type BindStep = Extract<RootStep, { readonly kind: 'bind' }>;

/** Where the originals of replaced directories are mounted. */
const originalsPath = '/.fairlead';

export type PlannedMount = Omit<Mount, 'image'> & {
  readonly isDirectory: boolean;
  readonly image?: ImageFiles;
};

export type RootPlanOptions = {
  /** Root directory of the container on the host; `/` for the host's own. */
  readonly root: string;
  readonly mounts: readonly PlannedMount[];
  readonly host: HostFiles;
  /** The root is read-only, except for volumes. */
  readonly isReadOnly?: boolean;
  /** The root is this machine's: users of the container own nothing in it. */
  readonly isOwnerless?: boolean;
  /** Paths of the root to mask. */
  readonly masked?: readonly { readonly path: string; readonly isDirectory: boolean }[];
  /** Private directories of the container: bind mounts of a host directory, or empty. */
  readonly own?: readonly {
    readonly destination: string;
    readonly source?: string;
    readonly mode: number;
  }[];
};

export type RootPlan = {
  readonly root: readonly RootStep[];
  /** Applied after the change of the root. */
  readonly volumes: readonly RootStep[];
};

export function planRoot(options: RootPlanOptions): RootPlan {
  const { root, mounts, host, isReadOnly = false, masked = [], own = [] } = options;
  const flags = { isReadOnly, ...(options.isOwnerless && { isOwnerless: true }) };
  // A nested mount comes after the outer one, and its mount point is created in the outer volume.
  const ordered = [...mounts].sort((a, b) => depth(a.path) - depth(b.path));
  const located = ordered.map((mount) => locate(root, host, mount));
  const isInside = ({ mount }: Located): boolean =>
    mounts.some(({ path }) => isBelow(mount.path, path));
  const rootSteps: RootStep[] = [...bindEntries(root, host, flags)];
  const replaced = replaceDirectories(
    { root, host, steps: rootSteps, flags },
    located.filter((one) => !isInside(one)),
  );
  for (const { path, isDirectory } of masked)
    rootSteps.push({ kind: 'hide', destination: replacedPath(replaced, path, false), isDirectory });
  rootSteps.push(...own.flatMap(ownDirectory));
  const steps: RootStep[] = [];
  const destinations = new Map<string, string>();
  const created = new Set<string>();
  const make = (kind: 'directory' | 'file', destination: string): void => {
    if (!created.has(destination)) steps.push({ kind, destination });
    created.add(destination);
  };
  for (const one of located) {
    const { mount, parent, rest } = one;
    const outer = ordered.findLast(({ path }) => isBelow(mount.path, path));
    const [top, names] =
      outer === undefined
        ? [replacedPath(replaced, parent, rest.length > 0), rest]
        : [destinations.get(outer.path) ?? '', parts(mount.path.slice(outer.path.length))];
    for (let end = 1; end < names.length; end += 1) {
      make('directory', join(top, names.slice(0, end).join('/')));
    }
    const destination = join(top, names.join('/'));
    if (names.length > 0) make(mount.isDirectory ? 'directory' : 'file', destination);
    destinations.set(mount.path, destination);
    steps.push(volumeStep(mount, destination));
  }
  return { root: rootSteps, volumes: steps };
}

export function volumeStep(mount: PlannedMount, destination: string): BindStep {
  const { source, isDirectory, isReadOnly, descriptor, masked, image, imagePath } = mount;
  return {
    ...{ kind: 'bind', source, destination, isReadOnly, isDirectory },
    ...(image === undefined ? {} : { image }),
    ...(imagePath === undefined ? {} : { imagePath }),
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(masked === undefined ? {} : { masked }),
  };
}

function ownDirectory({
  destination,
  source,
  mode,
}: {
  readonly destination: string;
  readonly source?: string;
  readonly mode: number;
}): readonly RootStep[] {
  const created: RootStep = { kind: 'directory', destination, mode };
  return source === undefined
    ? [created]
    : [created, { kind: 'bind', source, destination, isReadOnly: false }];
}

type BindFlags = { readonly isReadOnly: boolean; readonly isOwnerless?: boolean };

function bindEntries(root: string, host: HostFiles, flags: BindFlags): readonly RootStep[] {
  return host.entries(root).flatMap((entry): RootStep[] => {
    const destination = `/${entry.name}`;
    if (entry.kind === 'link') return [{ kind: 'link', target: entry.target, destination }];
    return [
      { kind: entry.kind, destination },
      { kind: 'bind', source: join(root, entry.name), destination, ...flags },
    ];
  });
}

type Located = {
  readonly mount: PlannedMount;
  /** The deepest existing path, with links resolved. */
  readonly parent: string;
  /** The missing segments below it. */
  readonly rest: readonly string[];
};

function locate(root: string, host: HostFiles, mount: PlannedMount): Located {
  const names = parts(mount.path);
  for (let length = names.length; length > 0; length -= 1) {
    const path = join(root, names.slice(0, length).join('/'));
    const found = within(root, host.resolve(path));
    const isUsable = length === names.length || host.isDirectory(path);
    if (found !== undefined && isUsable) {
      return { mount, parent: found, rest: names.slice(length) };
    }
  }
  return { mount, parent: '/', rest: names };
}

type Replacing = {
  readonly root: string;
  readonly host: HostFiles;
  readonly steps: RootStep[];
  readonly flags: BindFlags;
};

type Replaced = {
  readonly directory: string;
  readonly destination: string;
  readonly original: string;
};

function replaceDirectories(
  { root, host, steps, flags }: Replacing,
  located: readonly Located[],
): readonly Replaced[] {
  const parents = located.filter(({ rest }) => rest.length > 0).map(({ parent }) => parent);
  const directories = [...new Set(parents)].filter((path) => path !== '/');
  directories.sort((a, b) => depth(a) - depth(b));
  const replaced: Replaced[] = [];
  if (directories.length > 0) steps.push({ kind: 'directory', destination: originalsPath });
  for (const [index, directory] of directories.entries()) {
    const original = `${originalsPath}/${index}`;
    const destination = replacedPath(replaced, directory, false);
    replaced.push({ directory, destination, original });
    steps.push(
      { kind: 'directory', destination: original },
      { kind: 'bind', source: join(root, directory), destination: original, ...flags },
      { kind: 'memory', destination },
    );
    // A mount takes the destination of what is there.
    const mounted = located
      .filter(({ parent, rest }) => parent === directory && rest.length === 1)
      .map(({ rest }) => rest[0]);
    for (const { name, ...entry } of host.entries(join(root, directory))) {
      if (mounted.includes(name)) continue;
      const target = entry.kind === 'link' ? entry.target : `${original}/${name}`;
      steps.push({ kind: 'link', target, destination: join(destination, name) });
    }
  }
  return replaced;
}

/** The current location of a path of the host; with `isInto`, in the tmpfs that replaces its directory. */
function replacedPath(replaced: readonly Replaced[], path: string, isInto: boolean): string {
  const itself = replaced.find(({ directory }) => directory === path);
  if (isInto && itself !== undefined) return itself.destination;
  const above = replaced.findLast(({ directory }) => isBelow(path, directory));
  return above === undefined ? path : join(above.original, path.slice(above.directory.length));
}

const parts = (path: string): readonly string[] => path.split('/').filter((part) => part !== '');
const depth = (path: string): number => parts(path).length;
const isBelow = (path: string, directory: string): boolean =>
  path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
const join = (a: string, b: string): string =>
  `${a}/${b}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');

/** The path relative to the root; undefined for paths outside. */
function within(root: string, path: string | undefined): string | undefined {
  if (path === undefined || root === '/') return path;
  if (path === root) return '/';
  return isBelow(path, root) ? path.slice(root.length) : undefined;
}

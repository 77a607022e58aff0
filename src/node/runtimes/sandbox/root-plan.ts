// How the file system of a container is put together from the host's without changing the host's: a root in memory, onto
// which the directories of the host are bound, then the volumes. Where a volume goes to a place that the host does not have,
// the nearest directory that it has is replaced by one in memory whose entries lead to the old ones.
import type { HiddenBelow, Mount } from '../runtime.ts';

/** What the host has, as the planner asks. */
export type HostFiles = {
  readonly entries: (directory: string) => readonly HostEntry[];
  /** The place behind all links; undefined where nothing is. */
  readonly resolve: (path: string) => string | undefined;
  readonly isDirectory: (path: string) => boolean;
};

export type HostEntry =
  | { readonly name: string; readonly kind: 'directory' | 'file' }
  | { readonly name: string; readonly kind: 'link'; readonly target: string };

/** Steps in order; paths on the left are of the host, places are below the new root. */
export type RootStep =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly place: string;
      readonly isReadOnly: boolean;
      /** Of this machine: nothing in it belongs to anybody in the container. */
      readonly isOwnerless?: boolean;
      /** Of a volume. */
      readonly isDirectory?: boolean;
      /** Of the starter: what the source must be. */
      readonly descriptor?: number;
      /** Below it. */
      readonly hidden?: readonly HiddenBelow[];
    }
  | { readonly kind: 'memory'; readonly place: string }
  | { readonly kind: 'directory'; readonly place: string; readonly mode?: number }
  | { readonly kind: 'file'; readonly place: string }
  | { readonly kind: 'link'; readonly target: string; readonly place: string }
  /** What is there is not to be seen. */
  | { readonly kind: 'hide'; readonly place: string; readonly isDirectory: boolean };

/** Where replaced directories stay reachable. */
const keptPlace = '/.fairlead';

export type PlannedMount = Mount & { readonly isDirectory: boolean };

export type RootPlanOptions = {
  /** Root of the container's files on the host; `/` for the host's own. */
  readonly root: string;
  readonly mounts: readonly PlannedMount[];
  readonly host: HostFiles;
  /** The root's own directories cannot be written. */
  readonly isReadOnly?: boolean;
  /** The root is this machine's, of which the container's users own nothing. */
  readonly isOwnerless?: boolean;
  /** Paths of the root that the container must not see. */
  readonly hidden?: readonly { readonly path: string; readonly isDirectory: boolean }[];
  /** Directories that are the container's alone, by their places: those of a host directory, or empty ones. */
  readonly own?: readonly {
    readonly place: string;
    readonly source?: string;
    readonly mode: number;
  }[];
};

export type RootPlan = {
  readonly root: readonly RootStep[];
  /** For when the root is the container's. */
  readonly volumes: readonly RootStep[];
};

export function planRoot(options: RootPlanOptions): RootPlan {
  const { root, mounts, host, isReadOnly = false, hidden = [], own = [] } = options;
  const flags = { isReadOnly, ...(options.isOwnerless && { isOwnerless: true }) };
  // A mount inside another one comes after it, and its place is made in the volume itself.
  const ordered = [...mounts].sort((a, b) => depth(a.path) - depth(b.path));
  const located = ordered.map((mount) => locate(root, host, mount));
  const isInside = ({ mount }: Located): boolean =>
    mounts.some(({ path }) => isBelow(mount.path, path));
  const rootSteps: RootStep[] = [...bindEntries(root, host, flags)];
  const replaced = replaceDirectories(
    { root, host, steps: rootSteps, flags },
    located.filter((one) => !isInside(one)),
  );
  for (const { path, isDirectory } of hidden)
    rootSteps.push({ kind: 'hide', place: replacedPlace(replaced, path, false), isDirectory });
  rootSteps.push(...own.flatMap(ownDirectory));
  const steps: RootStep[] = [];
  const places = new Map<string, string>();
  const made = new Set<string>();
  const make = (kind: 'directory' | 'file', place: string): void => {
    if (!made.has(place)) steps.push({ kind, place });
    made.add(place);
  };
  for (const one of located) {
    const { mount, parent, rest } = one;
    const outer = ordered.findLast(({ path }) => isBelow(mount.path, path));
    const [top, names] =
      outer === undefined
        ? [replacedPlace(replaced, parent, rest.length > 0), rest]
        : [places.get(outer.path) ?? '', parts(mount.path.slice(outer.path.length))];
    for (let end = 1; end < names.length; end += 1) {
      make('directory', join(top, names.slice(0, end).join('/')));
    }
    const place = join(top, names.join('/'));
    if (names.length > 0) make(mount.isDirectory ? 'directory' : 'file', place);
    places.set(mount.path, place);
    steps.push(volumeStep(mount, place));
  }
  return { root: rootSteps, volumes: steps };
}

function volumeStep(mount: PlannedMount, place: string): RootStep {
  const { source, isDirectory, isReadOnly, descriptor, hidden } = mount;
  return {
    ...{ kind: 'bind', source, place, isReadOnly, isDirectory },
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(hidden === undefined ? {} : { hidden }),
  };
}

function ownDirectory({
  place,
  source,
  mode,
}: {
  readonly place: string;
  readonly source?: string;
  readonly mode: number;
}): readonly RootStep[] {
  const made: RootStep = { kind: 'directory', place, mode };
  return source === undefined ? [made] : [made, { kind: 'bind', source, place, isReadOnly: false }];
}

type BindFlags = { readonly isReadOnly: boolean; readonly isOwnerless?: boolean };

function bindEntries(root: string, host: HostFiles, flags: BindFlags): readonly RootStep[] {
  return host.entries(root).flatMap((entry): RootStep[] => {
    const place = `/${entry.name}`;
    if (entry.kind === 'link') return [{ kind: 'link', target: entry.target, place }];
    return [
      { kind: entry.kind, place },
      { kind: 'bind', source: join(root, entry.name), place, ...flags },
    ];
  });
}

type Located = {
  readonly mount: PlannedMount;
  /** The deepest directory, or the very thing, that is there, with links followed. */
  readonly parent: string;
  /** What is missing below it. */
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

type Replaced = { readonly directory: string; readonly place: string; readonly kept: string };

function replaceDirectories(
  { root, host, steps, flags }: Replacing,
  located: readonly Located[],
): readonly Replaced[] {
  const parents = located.filter(({ rest }) => rest.length > 0).map(({ parent }) => parent);
  const directories = [...new Set(parents)].filter((path) => path !== '/');
  directories.sort((a, b) => depth(a) - depth(b));
  const replaced: Replaced[] = [];
  if (directories.length > 0) steps.push({ kind: 'directory', place: keptPlace });
  for (const [index, directory] of directories.entries()) {
    const kept = `${keptPlace}/${index}`;
    const place = replacedPlace(replaced, directory, false);
    replaced.push({ directory, place, kept });
    steps.push(
      { kind: 'directory', place: kept },
      { kind: 'bind', source: join(root, directory), place: kept, ...flags },
      { kind: 'memory', place },
    );
    // A mount takes the place of what is there.
    const mounted = located
      .filter(({ parent, rest }) => parent === directory && rest.length === 1)
      .map(({ rest }) => rest[0]);
    for (const { name, ...entry } of host.entries(join(root, directory))) {
      if (mounted.includes(name)) continue;
      const target = entry.kind === 'link' ? entry.target : `${kept}/${name}`;
      steps.push({ kind: 'link', target, place: join(place, name) });
    }
  }
  return replaced;
}

/** Where a path of the host is now; for what is put into a replaced directory, the new one counts. */
function replacedPlace(replaced: readonly Replaced[], path: string, isInto: boolean): string {
  const itself = replaced.find(({ directory }) => directory === path);
  if (isInto && itself !== undefined) return itself.place;
  const above = replaced.findLast(({ directory }) => isBelow(path, directory));
  return above === undefined ? path : join(above.kept, path.slice(above.directory.length));
}

const parts = (path: string): readonly string[] => path.split('/').filter((part) => part !== '');
const depth = (path: string): number => parts(path).length;
const isBelow = (path: string, directory: string): boolean =>
  path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
const join = (a: string, b: string): string =>
  `${a}/${b}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');

/** The path as seen from the root; undefined for what lies outside of it. */
function within(root: string, path: string | undefined): string | undefined {
  if (path === undefined || root === '/') return path;
  if (path === root) return '/';
  return isBelow(path, root) ? path.slice(root.length) : undefined;
}

// Paths at which control groups can be created.

/** From /proc/self/mountinfo and /proc/self/cgroup, the root first; empty without version 2. */
export function cgroupPaths(mounts: string, own: string): readonly string[] {
  const root = mountPoint(mounts, (text) => text.includes(' - cgroup2 '));
  if (root === undefined) return [];
  const path = /^0::(\/.*)/m.exec(own)?.[1] ?? '/';
  return path === '/' ? [root] : [root, `${root}${path}`];
}

/** The path of the version 1 controller pids; undefined without it. */
export function pidGroupPath(mounts: string, own: string): string | undefined {
  const root = mountPoint(mounts, (text) => {
    const [, options] = text.split(' - cgroup ');
    return options?.split(/[ ,]/).includes('pids') ?? false;
  });
  if (root === undefined) return undefined;
  const fields = own.split('\n').map((text) => text.split(':'));
  const path = fields.find(([, names]) => names?.split(',').includes('pids'))?.[2] ?? '/';
  return path === '/' ? root : `${root}${path}`;
}

function mountPoint(mounts: string, isIt: (text: string) => boolean): string | undefined {
  // The first fields: two ids, the device, the root in it, the mount point.
  const top = mounts.split('\n').find(isIt)?.split(' ')[4];
  return top?.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

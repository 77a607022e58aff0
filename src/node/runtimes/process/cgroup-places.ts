// Where control groups can be made.

/** From /proc/self/mountinfo and /proc/self/cgroup; none without version 2. The top of the hierarchy first. */
export function cgroupPlaces(mounts: string, own: string): readonly string[] {
  const mounted = mounts.split('\n').find((line) => line.includes(' - cgroup2 '));
  // Fields in front: two ids, the device, the root within it, where it is mounted.
  const top = mounted?.split(' ')[4];
  if (top === undefined) return [];
  const root = top.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  const path = /^0::(\/.*)$/m.exec(own)?.[1] ?? '/';
  return path === '/' ? [root] : [root, `${root}${path}`];
}

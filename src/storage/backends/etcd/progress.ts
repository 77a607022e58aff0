// Which members can be asked how far a watch has come.

/**
 * Older members answer with a revision whose events they have not sent yet: a read that trusts them misses writes.
 * The releases are those from which Kubernetes asks too.
 */
const firstRight = [
  [3, 4, 31],
  [3, 5, 13],
] as const;

export function sendsProgressInOrder(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  if (major !== 3) return major > 3;
  const line = firstRight.find(([, ofLine]) => ofLine === minor);
  return line === undefined ? minor > 5 : patch >= line[2];
}

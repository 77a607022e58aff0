// The versions of Kubernetes and Fairlead, in the form that clients parse.

/** The Kubernetes release whose behaviour is served; clients compare it with their own. */
export const kubernetesRelease = { major: '1', minor: '36', patch: '4' } as const;

export type ReleaseVersion = `v${string}+fairlead.${string}`;

/** `v1.36.4+fairlead.0.1.0`: build metadata of a semantic version may hold letters, digits, hyphens and dots only. */
export function releaseVersion(packageVersion: string): ReleaseVersion {
  const { major, minor, patch } = kubernetesRelease;
  return `v${major}.${minor}.${patch}+fairlead.${packageVersion.replace(/[^0-9A-Za-z.-]/g, '-')}`;
}

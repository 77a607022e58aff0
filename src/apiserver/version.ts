// /version: which Kubernetes this server speaks, and which Fairlead it is.

export type VersionOptions = {
  /** Version of this package, as semantic version. */
  readonly packageVersion: string;
  readonly gitCommit?: string;
  /** RFC 3339. */
  readonly buildDate?: string;
  /** Node's names of system and processor: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  /** Node's own version, `v20.12.0`. */
  readonly nodeVersion: string;
};

export type VersionInfo = {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
};

/** The release whose behaviour is served; clients compare it with their own. */
const kubernetes = { major: '1', minor: '36', patch: '4' };

/** Clients know processors by Go's names. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function versionInfo(options: VersionOptions): VersionInfo {
  const { major, minor, patch } = kubernetes;
  return {
    major,
    minor,
    // Build metadata of a semantic version may hold letters, digits, hyphens and dots only.
    gitVersion: `v${major}.${minor}.${patch}+fairlead.${options.packageVersion.replace(/[^0-9A-Za-z.-]/g, '-')}`,
    gitCommit: options.gitCommit ?? '',
    gitTreeState: 'clean',
    buildDate: options.buildDate ?? '1970-01-01T00:00:00Z',
    goVersion: `node${options.nodeVersion}`,
    compiler: 'node',
    platform: `${options.platform}/${architectures[options.arch] ?? options.arch}`,
  };
}

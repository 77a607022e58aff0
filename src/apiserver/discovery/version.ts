// /version: the supported version of Kubernetes, and the version of Fairlead.
import { kubernetesRelease, releaseVersion } from '../../meta/release-version.ts';

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

/** Clients know processors by Go's names. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function versionInfo(options: VersionOptions): VersionInfo {
  const { major, minor } = kubernetesRelease;
  return {
    major,
    minor,
    gitVersion: releaseVersion(options.packageVersion),
    gitCommit: options.gitCommit ?? '',
    gitTreeState: 'clean',
    buildDate: options.buildDate ?? '1970-01-01T00:00:00Z',
    goVersion: `node${options.nodeVersion}`,
    compiler: 'node',
    platform: `${options.platform}/${architectures[options.arch] ?? options.arch}`,
  };
}

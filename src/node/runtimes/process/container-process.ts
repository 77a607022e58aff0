// The inputs to start the processes of one container.
import type { ContainerToRun } from '../runtime.ts';
import type { ImageRoot } from '../sandbox/image-root-steps.ts';
import type { ImageFiles } from '../sandbox/image-steps.ts';
import type { Isolation } from './probe-host.ts';
import type { LogLimits } from './write-log-file.ts';

export type ContainerProcess = {
  readonly container: ContainerToRun;
  readonly argv: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** `/`: the host's files. */
  readonly root: string;
  /** The files of an image, instead of those of `root`. */
  readonly image?: Pick<ImageRoot, 'files' | 'directories' | 'writable'>;
  /** Of volumes that are images, by the path of their mount. */
  readonly imageVolumes?: ReadonlyMap<string, ImageFiles>;
  readonly isolation: Isolation;
  /** Descriptors of namespaces shared within the pod. */
  readonly shared: { readonly ipc?: number; readonly pid?: number };
  /** Paths of this machine that are masked in containers. */
  readonly masked: readonly { readonly path: string; readonly isDirectory: boolean }[];
  readonly now: () => number;
  readonly logLimits?: LogLimits;
  /** `cgroup.procs` of its control groups. */
  readonly groupFiles: readonly string[];
  /** RLIMIT_NPROC of its user. */
  readonly maxProcesses?: number;
  /** Called with processes that could not join the groups themselves. */
  readonly onSpawn?: (pid: number) => void;
};
